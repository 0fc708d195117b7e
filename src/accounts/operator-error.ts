interface Terms extends ErrorOptions {
  /** What an operator can run about it. An account's owner, who has no command line, is not told. */
  remedy?: string
  /** Something was named that is not there. */
  missing?: true
  /** The part of the input that is wrong, as the contracts spell it. */
  field?: string
}

/**
 * What an operator or an owner asked for and cannot have. The message says what is wrong and what to do
 * about it; it never quotes a key or a token, nor anything of another account.
 */
export class OperatorError extends Error {
  readonly remedy: string | undefined
  readonly missing: boolean
  readonly field: string | undefined

  constructor(message: string, { remedy, missing, field, ...options }: Terms = {}) {
    super(message, options)
    this.name = 'OperatorError'
    this.remedy = remedy
    this.missing = missing ?? false
    this.field = field
  }
}
