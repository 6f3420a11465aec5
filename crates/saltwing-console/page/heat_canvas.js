// The picture of heat: keys down, time across, and a cell that keys and the pointer choose.

import { heatColour, RAMP } from "./palette.js";

/** Counts as shares of the highest one, such that small ones can be seen: a logarithm. */
function shareOf(rate, most) {
  return most > 0 ? Math.log1p((rate / most) * 200) / Math.log(201) : 0;
}

export class HeatCanvas {
  constructor(canvas, onChoose) {
    this.canvas = canvas;
    this.cell = null;
    this.rates = [];
    canvas.onmousemove = (event) => {
      const box = canvas.getBoundingClientRect();
      this.choose(Math.floor(((event.clientX - box.left) / box.width) * this.rates.length), Math.floor(((event.clientY - box.top) / box.height) * (this.rates[0]?.length ?? 0)));
    };
    canvas.onkeydown = (event) => {
      const steps = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
      const step = steps[event.key];
      if (!step) return;
      event.preventDefault();
      const [slot, span] = this.cell ?? [this.rates.length - 1, 0];
      this.choose(slot + step[0], span + step[1]);
    };
    this.onChoose = onChoose;
  }

  choose(slot, span) {
    if (!this.rates.length || !this.rates[0].length) return;
    this.cell = [Math.max(0, Math.min(this.rates.length - 1, slot)), Math.max(0, Math.min(this.rates[0].length - 1, span))];
    this.draw();
    this.onChoose(...this.cell);
  }

  /** Draws counts per second by `[slot][span]`. */
  show(rates) {
    this.rates = rates;
    this.draw();
    if (this.cell) this.onChoose(...this.cell);
  }

  get most() {
    return this.rates.reduce((most, slot) => slot.reduce((higher, rate) => Math.max(higher, rate), most), 0);
  }

  draw() {
    const [slots, spans] = [this.rates.length, this.rates[0]?.length ?? 0];
    const context = this.canvas.getContext("2d");
    this.canvas.width = Math.max(1, slots);
    this.canvas.height = Math.max(1, spans);
    if (!slots || !spans) return;
    const image = context.createImageData(slots, spans);
    const most = this.most;
    for (let slot = 0; slot < slots; slot += 1) {
      for (let span = 0; span < spans; span += 1) {
        image.data.set([...heatColour(shareOf(this.rates[slot][span], most)), 255], 4 * (span * slots + slot));
      }
    }
    if (this.cell) mark(image, this.cell, slots, spans);
    context.putImageData(image, 0, 0);
  }
}

/** Lightens the row and the column of the chosen cell. */
function mark(image, [slot, span], slots, spans) {
  const lighten = (x, y) => {
    for (let part = 0; part < 3; part += 1) image.data[4 * (y * slots + x) + part] = Math.min(255, image.data[4 * (y * slots + x) + part] + 38);
  };
  for (let x = 0; x < slots; x += 1) if (x !== slot) lighten(x, span);
  for (let y = 0; y < spans; y += 1) if (y !== span) lighten(slot, y);
}

/** Draws the ramp of colours. */
export function drawRamp(canvas) {
  canvas.width = RAMP.length;
  canvas.height = 1;
  const context = canvas.getContext("2d");
  const image = context.createImageData(RAMP.length, 1);
  RAMP.forEach((_, place) => image.data.set([...heatColour(place / 255), 255], 4 * place));
  context.putImageData(image, 0, 0);
}
