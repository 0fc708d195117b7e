import type { Kysely } from 'kysely'
import { findAccount } from '../accounts/store.ts'
import { findOwner } from '../accounts/whatsapp/store.ts'
import type { Deps } from '../deps.ts'
import type { Database } from '../platform/db/schema.ts'
import type { AuditDeps } from '../users/audit/append.ts'
import { audited } from '../users/audit/audit.ts'
import { findDelivery } from '../webhooks/deliveries/store.ts'
import { findEndpointOwner } from '../webhooks/endpoints/store.ts'
import { findMessageOwner } from './store.ts'
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

/** What the first argument of a command can name, and how its account is found. */
const finders: Record<string, (db: Kysely<Database>, id: string) => Promise<string | undefined>> = {
  ACC: async (db, id) => (await findAccount(db, id))?.id,
  WA: findOwner,
  EP: findEndpointOwner,
  MSG: findMessageOwner,
  DLV: async (db, id) => (await findDelivery(db, id))?.accountId,
}

/** Writes a change of an operator's to the audit log of the account that it is about. What is not there has none. */
export async function auditedForOperator<Result>(
  deps: AuditDeps,
  { what, named: [kind = '', id = ''] }: { what: string; named: [kind?: string, id?: string] },
  change: () => Promise<Result>,
): Promise<Result> {
  const accountId = await finders[kind]?.(deps.db, id)
  if (accountId === undefined) return change()
  return audited(deps, { accountId, who: 'operator', what, address: 'command line' }, change)
}
