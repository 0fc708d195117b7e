import type { Deps } from '../deps.ts'
import { auditedForOperator } from './operator-audit.ts'
import type { Line, Options, Syntax, TypedLine } from './syntax.ts'

/** What a command has to say: to a program, and to a person. */
export interface Answer {
  json: unknown
  text: string
  exitCode?: number
  /** Everything there is to say went through `Print`. */
  isPrinted?: boolean
}

/** Hears how far a command has come, in words for a person. */
export type Report = (progress: string) => void

/** Writes lines to standard output while the command runs, for more than fits into an answer; waits for its reader. */
export type Print = (lines: string) => Promise<void>

/** A command about data. It runs in whichever process has the data, so it touches nothing but its `Deps`. */
export interface DataCommand extends Syntax {
  kind: 'data'
  /** Whether the schema must be up to date. */
  needsSchema: boolean
  /** Whether it changes an account, and so is written to its audit log. */
  isAudited: boolean
  run(deps: Deps, line: Line, report: Report, print: Print): Promise<Answer>
}

/** A command about this process, such as a server. Returns the exit code. */
export interface LocalCommand extends Syntax {
  kind: 'local'
  run(environment: NodeJS.ProcessEnv, line: Line): Promise<number>
}

export type Command = DataCommand | LocalCommand

type Typed<Args extends readonly string[], O extends Options> = Syntax & { args: Args; options: O }

export function dataCommand<const Args extends readonly string[], const O extends Options>(
  command: Typed<Args, O> & {
    needsSchema?: boolean
    /** What it changes in the account that its first argument is about, such as `revoked the API key`. */
    audit?(line: TypedLine<Args, O>): string | undefined
    run(deps: Deps, line: TypedLine<Args, O>, report: Report, print: Print): Promise<Answer>
  },
): DataCommand {
  const { audit, ...rest } = command
  return {
    needsSchema: true,
    ...rest,
    kind: 'data',
    isAudited: audit !== undefined,
    run: async (deps, line, report, print) => {
      // `parseLine` has checked the line against this very syntax.
      const typed = line as unknown as TypedLine<Args, O>
      const run = () => command.run(deps, typed, report, print)
      const what = audit?.(typed)
      if (what === undefined) return run()
      return auditedForOperator(deps, { what, named: [command.args[0], line.args[0]] }, run)
    },
  }
}

export function localCommand<const Args extends readonly string[], const O extends Options>(
  command: Typed<Args, O> & {
    run(environment: NodeJS.ProcessEnv, line: TypedLine<Args, O>): Promise<number>
  },
): LocalCommand {
  return {
    ...command,
    kind: 'local',
    // `parseLine` has checked the line against this very syntax.
    run: (environment, line) => command.run(environment, line as unknown as TypedLine<Args, O>),
  }
}
