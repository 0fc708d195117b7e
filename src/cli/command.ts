import type { Fact } from '../../contracts/facts/fact.ts'
import { findAccount } from '../accounts/store.ts'
import type { Deps } from '../deps.ts'
import type { AuditDeps } from '../users/audit/append.ts'
import { audited } from '../users/audit/audit.ts'
import type { Line, Options, Syntax, TypedLine } from './syntax.ts'

/** The result of a command, as JSON for programs and as text for people. */
export interface CommandResult {
  json: unknown
  text: string
  exitCode?: number
  /** True if the command has written its output itself. */
  isPrinted?: boolean
  /** For output that is shown once: how to get it again if it could not be written. */
  ifLost?: string | undefined
}

/** The result of a command that has written its output itself. */
export function printed(exitCode = 0): CommandResult {
  return { json: null, text: '', exitCode, isPrinted: true }
}

/** A value that the user has not passed. */
export interface Question {
  text: string
  isSecret?: boolean
  /** The value, if it is known without asking; empty for an optional one. */
  preset?: string
  /** True if a user at a terminal is asked although there is a preset. */
  isOptional?: boolean
}

/** The user of a running command, maybe at another process. */
export interface CommandUser {
  /** Shows progress. */
  report(progress: string): void
  /** Writes lines to standard output, for results of unbounded size. Resolves once they are written. */
  print(lines: string): Promise<void>
  /** Asks before any change. Without a terminal, the answer is the preset; undefined if there is no answer. */
  ask(question: Question): Promise<string | undefined>
}

/** A command that works on data. It runs in the process that holds the data, so it only uses its `Deps`. */
export interface DataCommand extends Syntax {
  kind: 'data'
  /** Whether the schema must be up to date. */
  needsSchema: boolean
  /** Whether it changes an account and is therefore recorded in its audit log. */
  isAudited: boolean
  run(deps: Deps, line: Line, user: CommandUser): Promise<CommandResult>
}

/** A command that concerns the local process, such as a server. */
export interface LocalCommand extends Syntax {
  kind: 'local'
  run(environment: NodeJS.ProcessEnv, line: Line): Promise<CommandResult>
}

export type Command = DataCommand | LocalCommand

type Typed<Args extends readonly string[], O extends Options> = Syntax & { args: Args; options: O }

/**
 * Defines a command that is more than one procedure: it reports progress, prints as it runs, asks questions or concerns
 * the whole database. Any other command is a `contractCommand`.
 */
export function dataCommand<const Args extends readonly string[], const O extends Options>(
  command: Typed<Args, O> & {
    needsSchema?: boolean
    /**
     * What the audit log of the account says, which is the first argument, or that the command records its change itself.
     */
    audit?: ((line: TypedLine<Args, O>) => Fact | undefined) | 'by itself'
    run(deps: Deps, line: TypedLine<Args, O>, user: CommandUser): Promise<CommandResult>
  },
): DataCommand {
  const { audit, ...rest } = command
  return {
    needsSchema: true,
    ...rest,
    kind: 'data',
    isAudited: audit !== undefined,
    run: async (deps, line, user) => {
      // `parseLine` has checked the line against this syntax.
      const typed = line as unknown as TypedLine<Args, O>
      const run = () => command.run(deps, typed, user)
      const what = typeof audit === 'function' ? audit(typed) : undefined
      if (what === undefined) return run()
      const account = await findAccount(deps.db, line.args[0] ?? '')
      // An unknown ID has no account and no log.
      return account ? auditedForOperator(deps, { what, accountId: account.id }, run) : run()
    },
  }
}

export function localCommand<const Args extends readonly string[], const O extends Options>(
  command: Typed<Args, O> & {
    run(environment: NodeJS.ProcessEnv, line: TypedLine<Args, O>): Promise<CommandResult>
  },
): LocalCommand {
  return {
    ...command,
    kind: 'local',
    // `parseLine` has checked the line against this syntax.
    run: (environment, line) => command.run(environment, line as unknown as TypedLine<Args, O>),
  }
}

/** Records an operator's change in the audit log of its account. */
export function auditedForOperator<Result>(
  deps: AuditDeps,
  { what, accountId }: { what: Fact; accountId: string },
  change: () => Promise<Result>,
): Promise<Result> {
  return audited(deps, { accountId, who: 'operator', what, address: 'command line' }, change)
}
