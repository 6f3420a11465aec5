// Words of a statement in colours.

import { el } from "./dom.js";

const KEYWORDS = new Set(
  `add after all alter and any array as asc async attach backup begin between by case cast check column comment commit compact constraint copy create cross cube
  current database default delete desc describe distinct drop duplicate else end escape except exists explain export false fetch filter first following for from
  full function generated grant group having if ilike in include index inner insert intersect interval into is join key last lateral left like limit local merge
  natural not null nulls offset on or order outer over partition preceding primary privileges rebuild recursive release returning revoke right rollback rollup row
  rows savepoint schema select sequence set show some storage table temporary then to transaction true truncate union unique update upsert user using values view
  when where window with advise analyze salt_buckets`.split(/\s+/),
);

const TOKEN = /(--[^\n]*|\/\*[\s\S]*?(?:\*\/|$))|('(?:[^']|'')*(?:'|$))|("(?:[^"]|"")*(?:"|$))|(\b\d[\d_.]*(?:e[+-]?\d+)?\b)|([A-Za-z_]\w*)/gi;

/** The text as nodes; the piece from `mark[0]` to `mark[1]` is marked. */
export function colouredSql(text, mark = null) {
  const nodes = [];
  const plain = (from, to, kind) => {
    if (from >= to) return;
    const piece = text.slice(from, to);
    nodes.push(kind ? el("span", { class: kind }, piece) : piece);
  };
  const put = (from, to, kind) => {
    const [start, end] = mark ?? [text.length, text.length];
    plain(from, Math.min(to, start), kind);
    const [inFrom, inTo] = [Math.max(from, start), Math.min(to, end)];
    if (inFrom < inTo) nodes.push(el("mark", {}, text.slice(inFrom, inTo)));
    plain(Math.max(from, end), to, kind);
  };
  let last = 0;
  for (const found of text.matchAll(TOKEN)) {
    const [token, comment, string, name, digits, word] = found;
    put(last, found.index, null);
    const isKeyword = word && KEYWORDS.has(word.toLowerCase());
    put(found.index, found.index + token.length, comment ? "comment" : string ? "string" : name ? null : digits ? "digits" : isKeyword ? "keyword" : null);
    last = found.index + token.length;
  }
  put(last, text.length, null);
  // The last line counts although it is empty.
  nodes.push("\n");
  return nodes;
}
