/**
 * What an operator asked for and cannot have. The message says what is wrong and what to do about it;
 * it never quotes a key or a token.
 */
export class OperatorError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'OperatorError'
  }
}
