/** The command line was typed wrong: exit code 2, and the usage of the command. */
export class UsageError extends Error {
  constructor(message: string) {
    super(message)
    this.name = 'UsageError'
  }
}
