import type { Kysely } from 'kysely'
import { dashboardContracts } from '../../contracts/dashboard/index.ts'
import { commandContracts } from '../../contracts/command-line/index.ts'
import { ServiceError } from '../../contracts/errors.ts'
import type { CommandProcedure, DashboardProcedure, InputOf, OutputOf } from '../../contracts/procedure.ts'
import { requireAccount } from '../accounts/account.ts'
import type { Deps } from '../deps.ts'
import type { SettingsCall } from '../http/dashboard/authorize.ts'
import { settingsHandlers } from '../http/dashboard/settings-handlers.ts'
import { auditAndHandle } from '../pipeline/pipeline.ts'
import { pairProcedures, type ServedProcedure } from '../pipeline/procedures.ts'
import type { Database } from '../platform/db/schema.ts'
import { deliveryNotFound } from '../webhooks/deliveries/delivery.ts'
import { findDelivery } from '../webhooks/deliveries/store.ts'
import { endpointNotFound } from '../webhooks/endpoints/endpoint.ts'
import { findAccountOfEndpoint } from '../webhooks/endpoints/store.ts'
import { findAccountOfWhatsAppAccount } from '../whatsapp-accounts/store.ts'
import { whatsAppAccountNotFound } from '../whatsapp-accounts/whatsapp-account.ts'
import { commandHandlers } from './handlers.ts'
import { findAccountOfMessage } from './operator-store.ts'

/** The procedures that commands can call. */
export type CommandContract = DashboardProcedure | CommandProcedure

const procedures = new Map<CommandContract, ServedProcedure<CommandContract, SettingsCall>>(
  [
    ...pairProcedures<CommandContract, SettingsCall>(dashboardContracts.settings, settingsHandlers),
    ...pairProcedures<CommandContract, SettingsCall>(commandContracts, commandHandlers),
  ].map((procedure) => [procedure.contract, procedure]),
)

/**
 * Runs a procedure for an operator of the server: without a session and without limits, because whoever runs commands has
 * the database anyway. The audit log records it.
 */
export async function runForOperator<P extends CommandContract>(
  deps: Deps,
  contract: P,
  { accountId, input }: { accountId: string | undefined; input: InputOf<P> },
): Promise<OutputOf<P>> {
  const procedure = procedures.get(contract)
  if (!procedure) throw new Error('this contract has no handler for operators')
  // The output has been parsed by the contract's own schema.
  return auditAndHandle(deps, procedure, callFor(accountId), input) as Promise<OutputOf<P>>
}

function callFor(accountId: string | undefined): SettingsCall {
  return {
    accountId,
    workKey: accountId ?? '',
    slot: null,
    address: 'command line',
    isCommandLine: true,
    isOperatorView: false,
    actor: () => 'operator',
    assertStillAllowed: () => Promise.resolve(),
    user: () => {
      throw new Error('an operator on the command line is not a user of the dashboard')
    },
    runInBackground: () => {
      throw new Error('a command waits for all of its work')
    },
  }
}

export type FindAccount = (db: Kysely<Database>, id: string) => Promise<string>

/** Finds the account that a command concerns, by the placeholder of an argument. Throws a 404 error for an unknown ID. */
export const accountFinders: Readonly<Record<string, FindAccount>> = {
  ACC: async (db, id) => (await requireAccount(db, id)).accountId,
  EP: async (db, id) => orThrow(await findAccountOfEndpoint(db, id), () => endpointNotFound(id)),
  DLV: async (db, id) => orThrow((await findDelivery(db, id))?.accountId, () => deliveryNotFound(id)),
  WA: async (db, id) => orThrow(await findAccountOfWhatsAppAccount(db, id), () => whatsAppAccountNotFound(id)),
  MSG: async (db, id) => orThrow(await findAccountOfMessage(db, id), () => messageNotFound(id)),
}

function messageNotFound(id: string): ServiceError {
  return new ServiceError('MESSAGE_NOT_FOUND', `There is no message ${JSON.stringify(id)}.`, {
    remedy: 'To find a message by its external ID, run: waybill message list ACC --external-id REF',
  })
}

function orThrow(found: string | undefined, notFound: () => Error): string {
  if (found === undefined) throw notFound()
  return found
}
