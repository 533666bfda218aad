// Winrate, score and time over the moves of a line: Black's share of the games as a dark area, the score as a line, both
// for Black, and the seconds of each move as a bar.
const HEIGHT = 116;
const PAD = 8;
const DRAG_PIXELS = 14; // a finger that has moved so far to the side seeks; one that moves up or down scrolls the page

export default {
  template: `
<div class="tg-graph" ref="frame">
  <svg :viewBox="'0 0 ' + width + ' ' + height" :height="height" ref="svg" role="slider" tabindex="0" :aria-label="words.label"
       aria-valuemin="0" :aria-valuemax="last" :aria-valuenow="here" :aria-valuetext="describe(here)"
       @pointermove="onMove" @pointerleave="hovered = null" @pointerdown="onDown" @pointerup="onUp" @lostpointercapture="onEnd">
    <rect class="tg-graph-white" x="0" y="0" :width="width" :height="height" rx="8"/>
    <clipPath id="tg-graph-clip"><rect x="0" y="0" :width="width" :height="height" rx="8"/></clipPath>
    <g clip-path="url(#tg-graph-clip)">
      <template v-if="shows.winrate"><path class="tg-graph-black" :d="area"/><path class="tg-graph-rim" :d="rim"/></template>
      <path v-for="q in [25, 75]" :key="q" class="tg-graph-rule" :d="'M0 ' + height * q / 100 + 'H' + width"/>
      <path class="tg-graph-half" :d="'M0 ' + height / 2 + 'H' + width"/>
      <template v-if="shows.time">
        <rect v-for="t in times" :key="'t' + t.place" :class="'tg-graph-time tg-graph-time-' + t.color" :x="x(t.place) - barWidth / 2" :y="height - barHeight(t)" :width="barWidth" :height="barHeight(t)"/>
      </template>
      <path v-if="shows.score" class="tg-graph-score" :d="scoreLine"/>
      <path class="tg-graph-now" :d="'M' + x(here) + ' 0V' + height"/>
      <path v-if="pointed !== null" class="tg-graph-hover" :d="'M' + x(pointed) + ' 0V' + height"/>
    </g>
    <circle v-for="m in marked" :key="m.place" :class="'tg-grade-' + m.grade" class="tg-graph-mistake" :cx="x(m.place)" :cy="heightOf(at(m.place))" :r="2.5 + 0.6 * m.grade"/>
    <circle v-if="at(here)" class="tg-graph-dot" :cx="x(here)" :cy="heightOf(at(here))" r="4"/>
    <text class="tg-graph-label" :x="aside ? width - 6 : 6" y="14" :text-anchor="aside ? 'end' : 'start'">{{ describe(pointed ?? here) }}</text>
  </svg>
  <div class="tg-graph-legend">
    <button v-for="name in shownNames" :key="name" type="button" :class="['tg-legend-' + name, { 'tg-off': !shows[name] }]"
            :aria-pressed="shows[name]" @click="shows[name] = !shows[name]">{{ words[name] }}<span v-if="name === 'score' && shows.score && found.length" class="tg-graph-scale">±{{ span }}</span></button>
  </div>
</div>`,
  // `mark` changes the current place, and `merge` points of the `series` with that number, without sending all again.
  props: {
    points: Array, series: Number, mistakes: Array, times: Array, current: Number, last: Number, numbers: Array, words: Object,
  },
  data: (graph) => ({
    found: graph.points, here: graph.current,
    shows: { winrate: true, score: true, time: true }, width: 320, height: HEIGHT, hovered: null, start: null, dragging: false,
  }),
  mounted() {
    this.watcher = new ResizeObserver(() => (this.width = Math.max(120, this.$refs.frame.clientWidth)));
    this.watcher.observe(this.$refs.frame);
  },
  beforeUnmount() {
    this.watcher?.disconnect();
  },
  watch: {
    points(now) { this.found = now; }, // properties were sent again
    current(now) { this.mark(now); },
  },
  computed: {
    // The line may have become shorter under the pointer.
    pointed() { return this.hovered === null ? null : Math.min(this.hovered, this.last); },
    // The caption is on the side away from its move, whose line would cross it.
    aside() { return this.x(this.pointed ?? this.here) < this.width / 2; },
    span() {
      const most = Math.max(5, ...this.found.map((p) => Math.abs(p.score ?? 0)));
      return most <= 5 ? 5 : most <= 10 ? 10 : Math.ceil(most / 20) * 20;
    },
    shownNames() {
      return ["winrate", "score", ...(this.times.length ? ["time"] : [])];
    },
    longest() { return Math.max(10, ...this.times.map((t) => t.seconds)); },
    barWidth() { return Math.max(1, Math.min(6, (0.7 * (this.width - 2 * PAD)) / Math.max(1, this.last))); },
    marked() {
      return this.mistakes.filter((m) => this.at(m.place));
    },
    rim() { return this.path((p) => this.y(p.winrate)); },
    area() {
      if (!this.found.length) return "";
      const [first, last] = [this.found[0], this.found[this.found.length - 1]];
      return `${this.rim}V${this.height}H${this.x(first.place)}Z`.replace("V", `L${this.x(last.place)} `);
    },
    scoreLine() { return this.path(this.scoreHeight); },
  },
  methods: {
    mark(place) { this.here = place; },
    merge(changed, series) {
      if (series !== this.series) return;
      const places = new Set(changed.map((p) => p.place));
      this.found = [...this.found.filter((p) => !places.has(p.place)), ...changed].sort((a, b) => a.place - b.place);
    },
    describe(place) {
      const [shown, used] = [this.at(place), this.shows.time && this.times.find((t) => t.place === place)];
      const parts = [this.words.move.replace("{move}", this.numbers[place])];
      if (shown) parts.push(this.words.black.replace("{winrate}", `${Math.round(shown.winrate * 100)}%`));
      if (shown && shown.score !== null) parts.push(`${shown.score >= 0 ? "B" : "W"}+${Math.abs(shown.score).toFixed(1)}`);
      if (used) parts.push(this.words.seconds.replace("{seconds}", Math.round(used.seconds)));
      return parts.join("  ·  ");
    },
    barHeight(t) { return (0.45 * this.height * t.seconds) / this.longest; },
    x(place) { return PAD + (place / Math.max(1, this.last)) * (this.width - 2 * PAD); },
    y(winrate) { return PAD + (1 - winrate) * (this.height - 2 * PAD); },
    scoreHeight(p) { return this.height / 2 - ((p.score ?? 0) / this.span) * (this.height / 2 - PAD); },
    heightOf(p) { return this.shows.winrate || !this.shows.score ? this.y(p.winrate) : this.scoreHeight(p); },
    at(place) { return this.found.find((p) => p.place === place); },
    path(height) {
      return this.found.map((p, k) => `${k ? "L" : "M"}${this.x(p.place).toFixed(1)} ${height(p).toFixed(1)}`).join("");
    },
    placeAt(event) {
      const box = this.$refs.svg.getBoundingClientRect();
      const share = ((event.clientX - box.left) / box.width * this.width - PAD) / (this.width - 2 * PAD);
      return Math.round(Math.min(1, Math.max(0, share)) * this.last);
    },
    seek(place) {
      if (place !== this.sought) this.$emit("seek", { place });
      this.sought = place;
    },
    movedBy(event) { return [event.clientX - this.start.clientX, event.clientY - this.start.clientY].map(Math.abs); },
    onMove(event) {
      this.hovered = this.placeAt(event);
      if (event.pointerId !== this.start?.pointerId) return;
      const [aside, along] = this.movedBy(event);
      this.dragging ||= aside > Math.max(along, DRAG_PIXELS);
      if (this.dragging) this.seek(this.hovered);
    },
    onDown(event) {
      if (event.button !== 0 || !event.isPrimary) return;
      this.$refs.svg.setPointerCapture(event.pointerId);
      this.start = event;
      this.sought = null;
      this.dragging = event.pointerType === "mouse";
      if (this.dragging) this.seek(this.placeAt(event));
    },
    onUp(event) {
      if (event.pointerId !== this.start?.pointerId) return;
      if (!this.dragging && Math.max(...this.movedBy(event)) > DRAG_PIXELS) return;
      this.seek(this.placeAt(event));
      this.$emit("released");
    },
    // After the pointer was released, and where the browser has taken it to scroll.
    onEnd() {
      this.start = null;
      this.dragging = false;
    },
  },
};
