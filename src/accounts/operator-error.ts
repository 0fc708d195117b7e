interface Terms extends ErrorOptions {
  /** A command that fixes the problem. Only shown to operators, since users have no command line. */
  remedy?: string
  /** True if the input refers to something that does not exist. */
  missing?: true
  /** The invalid input field, by its name in the contracts. */
  field?: string
}

/**
 * An operator's or user's request that cannot be fulfilled. The message says what is wrong and how to fix it. It never
 * quotes a key or token, or data of another account.
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
