"""The board in the browser: play, analyse and count on one page, served by NiceGUI.

`session` and what it stands on (`tree`, `settings`, `levels`, `clock`, `counting`, `record`) are plain logic and know
no page. `conductor` decides what the engine does, `thinker` lets it do so beside the page. `page` draws all that with
`panels`, `dialogs` and `components`; `server` serves it, with the networks of `engines`.
"""
