import type { Deps } from '../deps.ts'
import type { Line, Options, Syntax, TypedLine } from './syntax.ts'

/** What a command has to say: to a program, and to a person. */
export interface Answer {
  json: unknown
  text: string
  exitCode?: number
}

/** Hears how far a command has come, in words for a person. */
export type Report = (progress: string) => void

/** A command about data. It runs in whichever process has the data, so it touches nothing but its `Deps`. */
export interface DataCommand extends Syntax {
  kind: 'data'
  /** Whether the schema must be up to date. */
  needsSchema: boolean
  run(deps: Deps, line: Line, report: Report): Promise<Answer>
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
    run(deps: Deps, line: TypedLine<Args, O>, report: Report): Promise<Answer>
  },
): DataCommand {
  return {
    needsSchema: true,
    ...command,
    kind: 'data',
    // `parseLine` has checked the line against this very syntax.
    run: (deps, line, report) => command.run(deps, line as unknown as TypedLine<Args, O>, report),
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
