"""What every report is made of: a page's style, tiles, tables, plots and boards, light and dark. Needs no PyTorch."""
