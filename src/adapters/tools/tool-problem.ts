/** Why a call came to nothing; the one way for what lies deeper to say so to the model. */
export class ToolProblem extends Error {
  override readonly name = 'ToolProblem';
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
