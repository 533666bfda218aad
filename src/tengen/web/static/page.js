// What the page does in the browser beside its drawings. Python calls it as `tengen.NAME(...)`, with JSON for arguments.
window.tengen = (() => {
  const KEY = "tengen"; // the entry of the browser's local storage
  const YEAR = 31536000; // seconds

  // Without this a file that is dropped outside the upload field replaces the page.
  for (const kind of ["dragover", "drop"]) addEventListener(kind, (event) => event.preventDefault());
  // NiceGUI keeps the id of a tab over a reload only where its `beforeunload` was called. Safari on iOS does not know it.
  // A page that comes back from the browser's cache is open again.
  addEventListener("pagehide", () => { sessionStorage.__nicegui_tab_closed = "true"; });
  addEventListener("pageshow", (event) => { if (event.persisted) sessionStorage.__nicegui_tab_closed = "false"; });

  // Files that are dropped on the page, and records that are pasted, go the way of a file that is chosen in the upload
  // field with this id. `words` are shown while a file is over the page, `several` where more than one is dropped; the
  // text of a field may have `limit` characters, else the server refuses the message.
  function takeFiles(upload, limit, words, several) {
    document.body.dataset.drop = words;
    const send = (files) => files.length && getElement(upload).$refs.qRef.addFiles([...files].slice(0, 1));
    const hasFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
    const mark = (on) => document.body.classList.toggle("tg-dropping", on);
    addEventListener("dragenter", (event) => hasFile(event) && mark(true));
    addEventListener("dragleave", (event) => event.relatedTarget || mark(false));
    addEventListener("drop", (event) => {
      const files = event.dataTransfer?.files ?? [];
      mark(false);
      send(files);
      if (files.length > 1) Quasar.Notify.create({ message: several, position: "top" });
    });
    addEventListener("paste", (event) => {
      const text = event.clipboardData?.getData("text/plain") ?? "";
      const field = event.target.closest?.("input, textarea");
      const fits = text.length <= limit;
      if ((field && (fits || !field.closest(".tg-paste"))) || !/\(\s*;/.test(text)) return;
      event.preventDefault();
      // The byte order mark says that the text is UTF-8 by now, whatever it declares.
      send([new File(["\ufeff" + text], "pasted.sgf")]);
    });
  }

  // The stored preferences; none where there is nothing to read.
  function known() {
    try { return JSON.parse(localStorage.getItem(KEY)) ?? {}; } catch { return {}; }
  }

  // Shows or hides the variations as is preferred. The server learns of it after the first drawing of the page, which
  // would show the answer of a problem for a moment.
  function showVariations(shown) {
    document.documentElement.classList.toggle("tg-no-variations", shown === false);
  }
  showVariations(known().variations);

  // The stored preferences as JSON, null for nothing.
  function stored() {
    showVariations(known().variations); // another tab may have changed it
    return localStorage.getItem(KEY);
  }

  // Stores changed preferences. Other tabs may have changed the rest, and the levels of other board sizes.
  function keep(changed) {
    const kept = known();
    const levels = { ...kept.levels, ...changed.levels };
    localStorage.setItem(KEY, JSON.stringify({ ...kept, ...changed, levels }));
    if ("variations" in changed) showVariations(changed.variations);
  }

  // Loads the page again with a cookie, `name=value`, where the browser takes it: else it would do so without end.
  function reloadWith(cookie) {
    document.cookie = `${cookie};path=/;max-age=${YEAR};samesite=lax`;
    if (document.cookie.includes(cookie)) location.reload();
  }

  let pressed = false; // whether a finger is on the board
  addEventListener("pointerdown", (event) => { pressed = Boolean(event.target.closest?.(".tg-board-column")); }, true);
  for (const kind of ["pointerup", "pointercancel"]) addEventListener(kind, () => { pressed = false; }, true);

  // Whether a person writes, or has a finger or the mouse on the board: the next click must find what it aims at.
  function isBusy() {
    const aims = matchMedia("(hover: hover)").matches && document.querySelector(".tg-board-column:hover");
    return aims || pressed || document.activeElement?.matches("textarea, input[type=text]");
  }

  // Scrolls an element that has just been shown into view, once it is drawn; with `unlessBusy` only where nobody is
  // busy with the page.
  function reveal(id, unlessBusy) {
    setTimeout(() => {
      if (!(unlessBusy && isBusy())) getHtmlElement(id)?.scrollIntoView({ block: "nearest" });
    }, 50);
  }

  // Keeps the page, which may be higher than the window, from scrolling by the keys that go through the game.
  function keepStill({ event, altKey, ctrlKey, metaKey, key }, keys) {
    if (altKey || ctrlKey || metaKey || document.querySelector(".q-dialog")) return;
    if (keys.includes(key)) event.preventDefault();
  }

  // Gives what was clicked the focus, which some browsers do not, and tells whether a finger has clicked. Not every
  // browser names the pointer of a click; a key has none, and clicks no times.
  function focusClicked(event) {
    event.currentTarget.focus({ preventScroll: true });
    if (event.pointerType) return event.pointerType === "touch";
    return event.detail > 0 && matchMedia("(hover: none)").matches;
  }

  return { takeFiles, stored, keep, reloadWith, reveal, keepStill, focusClicked };
})();
