/** SHA-256 of a text, as lower-case hex. Pure, but Node's: hence a port. */
export type Digest = (text: string) => string;
