/** From each state to those that may follow it. */
export type Moves = Readonly<Record<string, readonly string[]>>;

/** A state table as a mermaid diagram; `first` is the state that a record begins in. */
export function drawMoves(moves: Moves, first: string): string {
  const arrows = Object.entries(moves).flatMap(([from, targets]) =>
    targets.filter((to) => to !== from).map((to) => `  ${from} --> ${to}`),
  );
  return ['stateDiagram-v2', `  [*] --> ${first}`, ...arrows].join('\n');
}
