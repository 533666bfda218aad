"""The board in the browser: play, analyze, edit and count on one page, served by NiceGUI.

`session` holds a game (tree, count, who plays), `clock` its clocks and `settings` its settings; `editor` edits it and
`library` keeps it on disk. None of them has page code. `controller` decides what the engine does next, `engine` runs it
on a thread. `page` draws all that with the parts in `panels`, `components` and the modules named `..._panel` and
`..._dialog`; `files` opens and saves games for it; `server` serves one page a tab. Its texts are in `language` and its
catalogues.
"""
