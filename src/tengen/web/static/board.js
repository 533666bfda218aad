// The Go board: wood on a canvas, everything else in one SVG. It draws what its props say and reports taps; it knows no rules.
const CELL = 100;
const LETTERS = "ABCDEFGHJKLMNOPQRSTUVWXYZ";
const BLACK = 0;
const SWIPE_PIXELS = 14;
const SMALL_SCREEN = 500; // CSS pixels of width below which a finger misses points of boards above ROOMY_SIZE
const ROOMY_SIZE = 13;
const SMALL_SCREEN_LETTERS = 1.6; // times as large, to be readable where a point has 20 pixels
const HOLD_MS = 220; // a finger that rests so long aims; one that moves before scrolls the page

function hash(x, y) {
  let h = (Math.imul(x, 374761393) + Math.imul(y, 668265263)) | 0;
  h = Math.imul(h ^ (h >>> 13), 1274126177);
  return ((h ^ (h >>> 16)) >>> 0) / 4294967296;
}

// Value noise in 0..1 with smooth steps between lattice points.
function noise(x, y) {
  const [i, j] = [Math.floor(x), Math.floor(y)];
  let [u, v] = [x - i, y - j];
  u *= u * (3 - 2 * u);
  v *= v * (3 - 2 * v);
  const top = hash(i, j) * (1 - u) + hash(i + 1, j) * u;
  const bottom = hash(i, j + 1) * (1 - u) + hash(i + 1, j + 1) * u;
  return top * (1 - v) + bottom * v;
}

// Straight-grained wood: wavering year rings that darken towards their late edge, fine fibres along the grain, a soft light.
function paintWood(canvas) {
  const edge = (canvas.width = canvas.height = 720);
  const context = canvas.getContext("2d");
  const image = context.createImageData(edge, edge);
  const light = [237, 199, 133], dark = [199, 146, 78];
  for (let y = 0, at = 0; y < edge; y++) {
    for (let x = 0; x < edge; x++, at += 4) {
      const u = x / edge, v = y / edge;
      const bend = 1.9 * noise(u * 1.6 + 7, v * 0.9) + 0.5 * noise(u * 6, v * 1.7) + 0.08 * noise(u * 40, v * 9);
      const ring = u * 21 + 2.2 * bend;
      const late = ring - Math.floor(ring);
      const strength = 0.55 + 0.45 * hash(Math.floor(ring), 11);
      const line = strength * (late < 0.86 ? (late / 0.86) ** 2.4 : ((1 - late) / 0.14) ** 1.4);
      const fibre = noise(x * 0.5, y * 0.011) * 0.55 + noise(x * 1.6, y * 0.03) * 0.45;
      const cloud = noise(u * 2 + 31, v * 2 + 17);
      const shade = 0.1 * ((u - 0.4) ** 2 + (v - 0.35) ** 2);
      const t = 0.3 * line + 0.32 * fibre + 0.26 * cloud + shade;
      for (let k = 0; k < 3; k++) image.data[at + k] = light[k] + (dark[k] - light[k]) * t;
      image.data[at + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
}

function starLines(size) {
  if (size < 9) return size % 2 ? [(size - 1) / 2] : [];
  const edge = size < 13 ? 2 : 3;
  return size % 2 ? [edge, (size - 1) / 2, size - 1 - edge] : [edge, size - 1 - edge];
}

function signed(score, digits = 1) {
  return (score >= 0 ? "+" : "\u2212") + Math.abs(score).toFixed(digits);
}

function count(n) {
  return n < 1000 ? `${n}` : `${(n / 1000).toFixed(n < 10000 ? 1 : 0)}k`;
}

let speaker = null;

// A stone set on wood: a short burst of noise, lowered and quickly gone.
function clack() {
  if (navigator.userActivation?.hasBeenActive === false) return; // browsers allow no sound before a person has acted
  try {
    speaker ??= new AudioContext();
    const length = Math.floor(speaker.sampleRate * 0.07);
    const buffer = speaker.createBuffer(1, length, speaker.sampleRate);
    const samples = buffer.getChannelData(0);
    for (let i = 0; i < length; i++) samples[i] = (Math.random() * 2 - 1) * Math.exp(-i / (length * 0.09));
    const source = new AudioBufferSourceNode(speaker, { buffer });
    const filter = new BiquadFilterNode(speaker, { type: "bandpass", frequency: 1500 + Math.random() * 250, Q: 1.1 });
    source.connect(filter).connect(new GainNode(speaker, { gain: 0.55 })).connect(speaker.destination);
    source.start();
  } catch {
    speaker = null; // no audio device: the board plays on in silence
  }
}

export default {
  template: `
<div class="tg-board" :class="{ 'tg-quiet': !hover && !counting, 'tg-dense': cell < 28, 'tg-roomy': cell >= 46 }" ref="frame">
  <canvas ref="wood" aria-hidden="true"></canvas>
  <svg ref="svg" :viewBox="'0 0 ' + extent + ' ' + extent" role="application" tabindex="0" :aria-label="label"
       @keydown="onKey" @focus="onFocus" @blur="cursor = null" @mousedown.prevent
       @pointermove="onMove" @pointerdown="onDown" @pointerup="onUp" @pointerleave="onLeave" @pointercancel="onLeave"
       @touchmove="onTouchMove" @contextmenu="onMenu">
    <defs>
      <radialGradient id="tg-black" cx=".5" cy=".5" r=".56" fx=".34" fy=".27">
        <stop offset="0" stop-color="#7b8087"/><stop offset=".16" stop-color="#55595f"/>
        <stop offset=".5" stop-color="#26282b"/><stop offset=".85" stop-color="#101113"/><stop offset="1" stop-color="#1c1d20"/>
      </radialGradient>
      <radialGradient id="tg-white" cx=".5" cy=".5" r=".56" fx=".36" fy=".28">
        <stop offset="0" stop-color="#fff"/><stop offset=".45" stop-color="#fcfbf7"/>
        <stop offset=".8" stop-color="#eae6dc"/><stop offset="1" stop-color="#bdb7aa"/>
      </radialGradient>
      <radialGradient id="tg-shadow">
        <stop offset=".62" stop-color="#000" stop-opacity=".5"/><stop offset=".84" stop-color="#000" stop-opacity=".22"/>
        <stop offset="1" stop-color="#000" stop-opacity="0"/>
      </radialGradient>
      <pattern v-for="k in 3" :key="k" :id="'tg-shell' + k" width="1" height="1" viewBox="0 0 100 100">
        <g fill="none" stroke="#8d8471" stroke-opacity=".09" stroke-width="1.6" :transform="'rotate(' + (k * 62) + ' 50 50)'">
          <path v-for="j in 9" :key="j" :d="'M' + (j * 13 - 18) + ' -10 Q ' + (j * 13 + 16) + ' 50 ' + (j * 13 - 18) + ' 110'"/>
        </g>
      </pattern>
    </defs>
    <path class="tg-grid" :d="grid"/>
    <rect class="tg-edge" :x="margin" :y="margin" :width="extent - 2 * margin" :height="extent - 2 * margin"/>
    <circle v-for="p in stars" :key="'s' + p" class="tg-star" :cx="px(p)" :cy="py(p)" r="9"/>
    <g v-if="coordinates" class="tg-coordinates" :font-size="letterSize">
      <template v-for="k in size" :key="k">
        <text v-for="y in rims" :key="'c' + y" :x="margin + (k - 1) * 100" :y="y">{{ letters[k - 1] }}</text>
        <text v-for="x in rims" :key="'r' + x" :x="x" :y="margin + (size - k) * 100">{{ k }}</text>
      </template>
    </g>
    <circle v-for="s in placed" :key="'h' + s.key" class="tg-shadow" :class="{ 'tg-dead': s.dead }"
            :cx="s.x + 4" :cy="s.y + 8" r="57" fill="url(#tg-shadow)"/>
    <g v-for="s in placed" :key="s.key" class="tg-stone" :class="{ 'tg-dead': s.dead }" :data-point="s.point" :data-color="s.color">
      <circle :cx="s.x" :cy="s.y" r="47.5" :fill="s.color ? 'url(#tg-white)' : 'url(#tg-black)'"/>
      <circle v-if="s.color" :cx="s.x" :cy="s.y" r="47.5" :fill="'url(#tg-shell' + s.shell + ')'"/>
    </g>
    <rect v-for="p in dimmed" :key="'d' + p" class="tg-dim" :x="px(p) - 50" :y="py(p) - 50" width="100" height="100"/>
    <g v-for="p in planned" :key="'p' + p.point" class="tg-policy" :data-point="p.point">
      <rect :x="px(p.point) - 46" :y="py(p.point) - 46" width="92" height="92" rx="10" :opacity="p.opacity"/>
      <text v-if="p.text" :x="px(p.point)" :y="py(p.point)">{{ p.text }}</text>
    </g>
    <circle v-if="hint >= 0 && hint < stones.length" class="tg-hint" :cx="px(hint)" :cy="py(hint)" r="46"/>
    <rect v-for="m in owned" :key="'o' + m.point" class="tg-owned" :class="m.color ? 'tg-fill-white' : 'tg-fill-black'"
          :x="px(m.point) - m.r" :y="py(m.point) - m.r" :width="2 * m.r" :height="2 * m.r" rx="4" :opacity="m.opacity"/>
    <g v-if="ko >= 0 && stones[ko] === '.'" class="tg-ko"><rect :x="px(ko) - 22" :y="py(ko) - 22" width="44" height="44"/></g>
    <text v-for="[point, number] in numbered" :key="'n' + point" class="tg-number" :x="px(point)" :y="py(point)" :fill="inkAt(point)" :font-size="numberSize(number)">{{ number }}</text>
    <g class="tg-markup">
      <template v-for="[point, kind] in marks" :key="'m' + point">
        <path class="tg-halo" :d="shape(point, kind)"/><path :d="shape(point, kind)" :stroke="inkAt(point)"/>
      </template>
      <template v-for="[point, text] in labels" :key="'t' + point">
        <circle v-if="(stones[point] ?? '.') === '.'" class="tg-label-ground" :cx="px(point)" :cy="py(point)" r="38"/>
        <text :x="px(point)" :y="py(point)" :fill="inkAt(point)" :font-size="labelSize(shortened(text))">{{ shortened(text) }}<title v-if="shortened(text) !== text">{{ text }}</title></text>
      </template>
      <path v-for="[from, to, arrow] in lines" :key="from + '-' + to" class="tg-drawn" :d="stroke(from, to, arrow)"/>
    </g>
    <circle v-for="b in variations ? branches : []" :key="'b' + b" class="tg-branch" :cx="px(b)" :cy="py(b)" r="30"/>
    <template v-if="!shownLine.length"><g v-for="c in shownHeat" :key="'c' + c.point" class="tg-candidate" :class="{ 'tg-best': c.rank === 0 }" :data-point="c.point">
      <circle class="tg-disc" :cx="px(c.point)" :cy="py(c.point)" r="48" :fill="c.color"/>
      <circle v-if="c.point === onward" class="tg-next" :cx="px(next)" :cy="py(next)" r="46"/>
      <text v-for="(row, k) in rowsOf(c)" :key="k" :class="k ? 'tg-sub' : 'tg-win'" :x="px(c.point)" :y="py(c.point) + row[1]">{{ row[0] }}</text>
    </g>
    <circle v-if="onward >= 0 && found.length && !shownHeat.some((c) => c.point === onward)" class="tg-next" :cx="px(next)" :cy="py(next)" r="46"/></template>
    <g v-for="s in shownLine" :key="'l' + s.number" class="tg-line">
      <circle :cx="px(s.point)" :cy="py(s.point)" r="46.5" :fill="s.color ? 'url(#tg-white)' : 'url(#tg-black)'"/>
      <text :x="px(s.point)" :y="py(s.point) + 16" :fill="s.color ? '#1b1d20' : '#f6f4ee'">{{ s.number }}</text>
    </g>
    <path v-if="mark" class="tg-last" :d="mark"/>
    <g v-if="aim !== null && touch" class="tg-cross">
      <path :d="'M' + px(aim) + ' ' + (margin - 40) + 'V' + (extent - margin + 40) + 'M' + (margin - 40) + ' ' + py(aim) + 'H' + (extent - margin + 40)"/>
    </g>
    <circle v-if="ghost !== null" class="tg-ghost" :class="{ 'tg-pending': ghost === pending }" :cx="px(ghost)" :cy="py(ghost)" r="47" :fill="hover === 'white' ? 'url(#tg-white)' : 'url(#tg-black)'"/>
    <rect v-if="cursor !== null" class="tg-cursor" :x="px(cursor) - 50" :y="py(cursor) - 50" width="100" height="100" rx="12"/>
    <g v-if="refusal" class="tg-refused" :key="refusal.key"><path :d="cross(refusal.point)"/></g>
  </svg>
  <div v-if="thinking" class="tg-thinking" aria-hidden="true"></div>
  <div class="tg-said" role="status" data-testid="said">{{ spoken }}</div>
  <button v-if="pending !== null" type="button" class="tg-confirm" :class="{ 'tg-above': 2 * pending >= size ** 2 }"
          data-testid="confirm-move" @click="play(pending)">{{ words.play.replace("{move}", nameOf(pending)) }}</button>
</div>`,
  props: {
    size: Number, stones: String, last: Number, ko: Number, hover: String, coordinates: Boolean,
    candidates: Array, turn: Number, line: Array, ownership: Array, territory: String, dead: Array, branches: Array,
    next: Number, marks: Array, labels: Array, lines: Array, dimmed: Array,
    hint: { type: Number, default: -1 }, policy: { type: Array, default: () => [] }, estimate: { type: String, default: "" },
    numbers: { type: Array, default: () => [] }, variations: { type: Boolean, default: true },
    refused: Object, counting: Boolean, thinking: Boolean, sound: Boolean, label: String,
    said: String, words: Object, confirm: { type: Boolean, default: null },
  },
  data: () => ({ aim: null, pressed: null, touch: false, held: false, width: 0, refusal: null, cursor: null, pending: null, spoken: "", letters: LETTERS }),
  mounted() {
    paintWood(this.$refs.wood);
    this.watcher = new ResizeObserver(() => (this.width = this.$refs.svg.clientWidth));
    this.watcher.observe(this.$refs.frame);
  },
  beforeUnmount() {
    this.watcher?.disconnect();
  },
  watch: {
    size() {
      this.onLeave();
      if (this.cursor !== null) this.moveCursor(Math.floor(this.size ** 2 / 2));
    },
    stones(now, before) {
      if (this.sound && this.last >= 0 && now.length === before.length) clack();
      this.pending = null;
    },
    hover() { this.pending = null; },
    said(now) { this.spoken = now; },
    dead(now, before) {
      if (this.counting && this.cursor !== null && String(now) !== String(before)) this.moveCursor(this.cursor);
    },
    refused(now, before) {
      if (now?.key === before?.key) return; // properties were sent again
      clearTimeout(this.fading);
      this.refusal = now ?? null;
      this.fading = setTimeout(() => (this.refusal = null), 900);
    },
  },
  computed: {
    letterSize() {
      return ((29 * (this.size + 8)) / 27) * (this.width && this.width < SMALL_SCREEN ? SMALL_SCREEN_LETTERS : 1);
    },
    margin() { return this.coordinates ? 58 + 1.65 * this.letterSize : 64; },
    extent() { return (this.size - 1) * CELL + 2 * this.margin; },
    cell() { return this.width ? (this.width / this.extent) * CELL : 40; }, // CSS pixels between two lines
    rims() { return [0.29 * this.margin, this.extent - 0.29 * this.margin]; },
    grid() {
      const [from, to] = [this.margin, this.extent - this.margin];
      let d = "";
      for (let k = from + CELL; k < to; k += CELL) d += `M${from} ${k}H${to}M${k} ${from}V${to}`;
      return d;
    },
    stars() {
      const lines = starLines(this.size);
      const middle = (this.size - 1) / 2;
      const points = lines.flatMap((row) => lines.map((col) => [row, col]));
      const side = ([row, col]) => (row === middle) !== (col === middle);
      return points.filter((at) => this.size >= 15 || !side(at)).map(([row, col]) => row * this.size + col);
    },
    placed() {
      const dead = new Set(this.dead);
      const isDead = (point) => dead.has(point) || (this.estimate[point] ?? ".") !== ".";
      const stones = [];
      for (let point = 0; point < this.stones.length; point++) {
        const color = "XO".indexOf(this.stones[point]);
        if (color < 0) continue;
        // Stones set by hand never stand quite on the crossing.
        const [x, y] = [this.px(point) + (hash(point, 3) - 0.5) * 4, this.py(point) + (hash(point, 5) - 0.5) * 4];
        stones.push({ point, color, x, y, key: `${point}${color}`, dead: isDead(point), shell: 1 + (point * 7) % 3 });
      }
      return stones;
    },
    // A triangle at the corner of the last stone: all else that is drawn on stones lies in their middle.
    mark() {
      const stone = this.counting ? null : this.placed.find((one) => one.point === this.last);
      const edge = this.cell < 28 ? 38 : 35;
      return stone && `M${stone.x + 47} ${stone.y + 47}h${-edge}l${edge} ${-edge}Z`;
    },
    ghost() {
      const at = this.aim ?? this.pending ?? this.cursor;
      if (at === null || !this.hover || this.stones[at] !== ".") return null;
      return this.shownLine.length && (this.held || !this.touch) ? null : at;
    },
    // The policy is shown by itself: under candidates and ownership nobody can read it.
    found() { return this.policy.length ? [] : this.candidates; },
    // A finger points while it is held.
    pointed() { return this.aim === null ? null : this.found.find((c) => c.point === this.aim); },
    shownLine() {
      const points = this.line.length ? this.line : this.pointed?.pv ?? [];
      const free = (point, at) => point < this.size ** 2 && this.stones[point] === "." && points.indexOf(point) === at;
      return points.map((point, at) => ({ point, number: at + 1, color: (this.turn + at) % 2, free: free(point, at) })).filter((s) => s.free);
    },
    shownHeat() { return this.found.filter((c) => c.point < this.size ** 2 && this.stones[c.point] === "."); },
    onward() { return this.variations ? this.next : -1; },
    // The numbers of moves on stones that have nothing else to show.
    numbered() {
      if (this.shownLine.length) return [];
      const taken = new Set([...this.marks, ...this.labels, ...this.owned.map((m) => [m.point])].map(([point]) => point));
      return this.numbers.filter(([point]) => !taken.has(point));
    },
    // The policy's moves from half a percent on, with their percentages.
    planned() {
      const top = Math.max(...this.policy.slice(0, this.stones.length));
      return this.policy.slice(0, this.stones.length).map((share, point) => ({ point, share }))
        .filter(({ share }) => share >= 0.005)
        .map(({ point, share }) => ({ point, opacity: 0.15 + 0.75 * Math.sqrt(share / top), text: `${Math.round(100 * share)}` }));
    },
    owned() {
      const marks = [];
      for (let point = 0; point < this.stones.length; point++) {
        const counted = (this.estimate || this.territory)[point] ?? ".";
        const value = this.policy.length || this.estimate ? 0 : this.ownership[point] ?? 0;
        const stone = "XO".indexOf(this.stones[point]);
        if (counted !== ".") marks.push({ point, color: counted === "w" ? 1 : 0, r: 17, opacity: 1 });
        // A stone is marked only where it is more likely to belong to the other side.
        else if (Math.abs(value) > (stone < 0 ? 0.1 : 0.25) && (stone < 0 || (value > 0) !== (stone === BLACK)))
          marks.push({ point, color: value > 0 ? 0 : 1, r: 7 + 14 * Math.min(1, Math.abs(value)), opacity: 0.45 + 0.45 * Math.abs(value) });
      }
      return marks;
    },
  },
  methods: {
    px(point) { return this.margin + (point % this.size) * CELL; },
    py(point) { return this.margin + Math.floor(point / this.size) * CELL; },
    // The texts of a candidate's disc with their heights: as many as stay readable at the size of the board.
    rowsOf(c) {
      if (this.cell < 28) return [[Math.round(c.winrate * 100), 20]];
      const rate = (c.winrate * 100).toFixed(c.winrate < 0.9995 ? 1 : 0); // 100.0 is wider than the disc
      const digits = this.cell < 46 && Math.abs(c.score) >= 9.95 ? 0 : 1; // a small disc has little room
      const score = c.score === null ? count(c.visits) : signed(c.score, digits);
      if (this.cell < 46 || c.score === null) return [[rate, -2], [score, 30]];
      return [[rate, -11], [score, 13], [count(c.visits), 34]];
    },
    // Longer labels would be too small to read.
    shortened(text) {
      const letters = [...text];
      return letters.length > 3 ? `${letters.slice(0, 2).join("")}\u2026` : text;
    },
    labelSize(text) {
      const letters = [...text];
      const wide = letters.filter((letter) => letter > "\u2e7f").length; // Chinese, Japanese, Korean
      return letters.length < 2 ? 56 : Math.min(42, 108 / (letters.length + 0.3 * wide));
    },
    // As large as the digits fit: a phone has 19 pixels for a stone.
    numberSize(number) { return [54, 54, 50, 41, 33][`${number}`.length]; },
    inkAt(point) { return this.stones[point] === "X" ? "#f6f4ee" : "#1b1d20"; },
    shape(point, kind) {
      const [x, y] = [this.px(point), this.py(point)];
      if (kind === "triangle") return `M${x} ${y - 31}L${x + 27} ${y + 17}H${x - 27}Z`;
      if (kind === "square") return `M${x - 22} ${y - 22}h44v44h-44Z`;
      if (kind === "circle") return `M${x - 25} ${y}a25 25 0 1 0 50 0a25 25 0 1 0 -50 0`;
      if (kind === "selected") {
        const corners = [[-1, -1], [1, -1], [1, 1], [-1, 1]];
        return corners.map(([i, j]) => `M${x + 27 * i} ${y + 12 * j}V${y + 27 * j}H${x + 12 * i}`).join("");
      }
      return this.cross(point);
    },
    stroke(from, to, arrow) {
      const [x, y, ex, ey] = [this.px(from), this.py(from), this.px(to), this.py(to)];
      const angle = Math.atan2(ey - y, ex - x);
      const barb = (turn) => `${(ex - 34 * Math.cos(angle + turn)).toFixed(1)} ${(ey - 34 * Math.sin(angle + turn)).toFixed(1)}`;
      return `M${x} ${y}L${ex} ${ey}` + (arrow ? `M${barb(0.5)}L${ex} ${ey}L${barb(-0.5)}` : "");
    },
    cross(point) {
      const [x, y] = [this.px(point), this.py(point)];
      return `M${x - 24} ${y - 24}L${x + 24} ${y + 24}M${x + 24} ${y - 24}L${x - 24} ${y + 24}`;
    },
    pointAt(event) {
      const box = this.$refs.svg.getBoundingClientRect();
      const place = (offset, length) => Math.round(((offset / length) * this.extent - this.margin) / CELL);
      const col = place(event.clientX - box.left, box.width);
      const row = place(event.clientY - box.top, box.height);
      const inside = row >= 0 && col >= 0 && row < this.size && col < this.size;
      return inside ? row * this.size + col : null;
    },
    onMove(event) {
      if (event.pointerType === "mouse") this.touch = false;
      if (event.pointerType === "mouse" || this.held) this.aim = this.pointAt(event);
      else if (this.pressed !== null && this.movedFar(event)) this.onLeave(); // a swipe
    },
    // A tap: where it must be confirmed, the first one shows the stone.
    choose(point) {
      const asks = this.confirm ?? (this.touch && window.innerWidth < SMALL_SCREEN && this.size > ROOMY_SIZE);
      if (asks && this.hover && this.stones[point] === "." && point !== this.pending) this.pending = point;
      else this.play(point);
    },
    play(point) {
      this.pending = null;
      this.$emit("point", { point });
    },
    nameOf(point) { return LETTERS[point % this.size] + (this.size - Math.floor(point / this.size)); },
    reveal() {
      this.$refs.frame.scrollIntoView({ block: "nearest" }); // at once: a second tap must not meet a page that moves
    },
    // When the frame with all that was received before is on the screen; a hidden page has no frames.
    tellDrawn(number) {
      const tell = () => {
        this.$emit("drawn", { number: this.asked });
        this.asked = 0;
      };
      if (!this.asked) requestAnimationFrame(() => setTimeout(tell));
      this.asked = number;
    },
    focus() { this.$refs.svg.focus({ focusVisible: true }); },
    onFocus() {
      if (!this.$refs.svg.matches(":focus-visible")) return;
      this.moveCursor(this.last >= 0 ? this.last : Math.floor(this.size ** 2 / 2));
    },
    moveCursor(point) {
      this.cursor = point;
      const stone = this.words[{ X: "black", O: "white" }[this.stones[point]] ?? "empty"];
      const said = [this.nameOf(point), stone];
      if (this.counting && this.dead.includes(point)) said.push(this.words.dead);
      for (const [at, kind] of this.marks) if (at === point) said.push(this.words[kind]);
      for (const [at, text] of this.labels) if (at === point) said.push(this.words.label.replace("{text}", () => text));
      if (point === this.hint) said.push(this.words.hint);
      const planned = this.planned.find((one) => one.point === point);
      if (planned) said.push(this.words.policy.replace("{percent}", planned.text));
      this.spoken = said.join(", ");
    },
    // While the board has the keyboard, the arrow keys move its cursor and do not go through the game.
    onKey(event) {
      if (this.cursor === null || event.ctrlKey || event.altKey || event.metaKey) return;
      const [row, col] = [Math.floor(this.cursor / this.size), this.cursor % this.size];
      const step = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] }[event.key];
      if (step) {
        const inside = (place) => Math.min(this.size - 1, Math.max(0, place));
        this.moveCursor(inside(row + step[0]) * this.size + inside(col + step[1]));
      } else if (event.key === "Enter" || event.key === " ") this.play(this.cursor);
      else if (event.key === "Escape") this.$refs.svg.blur();
      else return;
      event.preventDefault();
      event.stopPropagation();
    },
    onDown(event) {
      if (event.button !== 0) return;
      document.activeElement?.blur();
      this.onLeave();
      if (!event.isPrimary) return; // another finger: none of them plays
      this.touch = event.pointerType !== "mouse";
      this.pressed = this.pointAt(event);
      this.start = event;
      if (!this.touch) this.aim = this.pressed;
      if (!this.touch || this.pressed === null) return;
      this.$refs.svg.setPointerCapture(event.pointerId);
      this.holding = setTimeout(() => ([this.held, this.aim] = [true, this.pressed]), HOLD_MS);
    },
    onUp(event) {
      // A finger that rested may slide to the right crossing before it lets go; any other must release where it pressed.
      const point = this.touch && !this.held ? this.pressed : this.pointAt(event);
      if (this.pressed !== null && point !== null && (this.held || point === this.pressed)) this.choose(point);
      const aim = this.touch ? null : this.aim;
      this.onLeave();
      this.aim = aim;
    },
    movedFar(event) { return Math.hypot(event.clientX - this.start.clientX, event.clientY - this.start.clientY) > SWIPE_PIXELS; },
    onLeave() {
      clearTimeout(this.holding);
      this.aim = this.pressed = null;
      this.held = false;
    },
    onTouchMove(event) {
      if (this.held && event.cancelable) event.preventDefault(); // the finger aims: the page does not scroll
    },
    onMenu(event) {
      if (this.touch) event.preventDefault();
    },
  },
};
