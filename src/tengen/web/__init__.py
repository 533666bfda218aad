"""The board in the browser: play, analyze and count on one page, served by NiceGUI.

`session` holds a game (tree, clock, count) and `settings` its settings; neither has page code. `controller` decides
what the engine does next, `engine` runs it on a thread. `page` draws all that with the parts in `panels`, `analysis`,
`dialogs` and `components`; `server` serves one page a tab.
"""
