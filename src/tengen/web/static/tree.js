// The tree of variations: moves run to the right, branches below. Only the nodes in view are drawn.
const STEP = 26;
const MARGIN = 16;
const GOOD = 6; // the grade of a move that the record calls good

export default {
  template: `
<div class="tg-tree" ref="frame" role="group" tabindex="0" :aria-label="label" @scroll="onScroll" @keydown="onKey">
  <svg :width="2 * margin + columns * step" :height="2 * margin + rows * step" aria-hidden="true">
    <path class="tg-tree-edges" :d="edges"/>
    <g v-for="n in shown" :key="n.id" class="tg-tree-node" :class="{ 'tg-tree-current': n.id === marked }" @click="$emit('choose', { id: n.id })">
      <circle v-if="n.id === marked" class="tg-tree-ring" :cx="n.x" :cy="n.y" r="12.5"/>
      <rect v-if="n.kind === 'root' || n.kind === 'note'" :x="n.x - 6" :y="n.y - 6" width="12" height="12" rx="3" class="tg-tree-root"/>
      <circle v-else :cx="n.x" :cy="n.y" r="9" :class="'tg-tree-' + n.kind"/>
      <circle v-if="n.grade > 0" :cx="n.x" :cy="n.y" r="9" class="tg-tree-grade" :class="'tg-grade-' + n.grade" :stroke-width="n.grade === good ? 3 : 1 + 0.8 * n.grade"/>
      <text v-if="n.kind === 'black' || n.kind === 'white'" :x="n.x" :y="n.y + 3" :class="'tg-tree-text-' + n.kind">{{ n.number }}</text>
      <circle v-if="n.remark" class="tg-tree-remark" :cx="n.x + 8" :cy="n.y - 8" r="4"/>
    </g>
  </svg>
</div>`,
  // nodes: [id, column, row, kind, index of the parent or -1, move number, grade, remark]; kind is black, white, root or
  // note; the grade is the class of the move's loss, 0 to 5, GOOD, or -1; remark is 1 where the record has a comment or
  // the like. `mark` changes the current node without sending all again.
  props: { nodes: Array, current: Number, label: String },
  data: () => ({ marked: null, left: 0, top: 0, width: 400, height: 200, step: STEP, margin: MARGIN, good: GOOD }),
  mounted() {
    this.watcher = new ResizeObserver(this.onScroll);
    this.watcher.observe(this.$refs.frame);
    this.mark(this.current);
  },
  beforeUnmount() {
    this.watcher?.disconnect();
  },
  watch: {
    nodes() { this.mark(this.current); }, // properties were sent again
  },
  computed: {
    columns() { return Math.max(0, ...this.nodes.map((n) => n[1])); },
    rows() { return Math.max(0, ...this.nodes.map((n) => n[2])); },
    placed() {
      return this.nodes.map(([id, column, row, kind, parent, number, grade, remark]) => ({
        id, number, kind, parent, grade, remark, x: MARGIN + column * STEP, y: MARGIN + row * STEP,
      }));
    },
    shown() { return this.placed.filter((n) => this.near(n)); },
    edges() {
      let d = "";
      for (const node of this.placed) {
        const parent = this.placed[node.parent];
        if (!parent || !(this.near(node) || this.near(parent))) continue;
        const bend = Math.min(node.y - parent.y, node.x - parent.x);
        d += `M${parent.x} ${parent.y}V${node.y - bend}L${parent.x + bend} ${node.y}H${node.x}`;
      }
      return d;
    },
  },
  methods: {
    mark(id) {
      this.marked = id;
      this.$nextTick(this.reveal);
    },
    near(node) {
      return node.x > this.left - 60 && node.x < this.left + this.width + 60 && node.y > this.top - 60 && node.y < this.top + this.height + 60;
    },
    onScroll() {
      const frame = this.$refs.frame;
      if (!frame) return;
      [this.left, this.top, this.width, this.height] = [frame.scrollLeft, frame.scrollTop, frame.clientWidth, frame.clientHeight];
    },
    onKey(event) {
      if (event.key.startsWith("Arrow")) event.preventDefault(); // they go through the game and do not scroll
    },
    reveal() {
      const frame = this.$refs.frame;
      const node = this.placed.find((n) => n.id === this.marked);
      if (!frame || !node) return;
      frame.scrollTo({ left: node.x - frame.clientWidth / 2, top: node.y - frame.clientHeight / 2, behavior: "smooth" });
    },
  },
};
