"""Network files of other programs: KataGo's and Leela Zero's. No PyTorch."""
