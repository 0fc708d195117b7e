import type { FastifyRequest } from 'fastify'
import type { Kysely } from 'kysely'
import type { OperatorAccess } from '../../../contracts/dashboard/user.ts'
import { ServiceError } from '../../../contracts/errors.ts'
import { errorFacts } from '../../../contracts/facts/errors.ts'
import { AccountId } from '../../../contracts/fields.ts'
import type { Role, SessionProcedure } from '../../../contracts/procedure.ts'
import { networkOf } from '../../accounts/ip-allow-list.ts'
import type { Deps } from '../../deps.ts'
import { costOf } from '../../pipeline/pipeline.ts'
import type { ProcedureCall } from '../../pipeline/procedures.ts'
import type { WorkLimiter } from '../../pipeline/work-limiter.ts'
import type { Database } from '../../platform/db/schema.ts'
import type { Logger } from '../../platform/log.ts'
import { findAccountViews, readOperatorAccess } from '../../users/operators.ts'
import type { SignedIn, UserAuth } from '../../users/sign-in/better-auth.ts'
import type { OidcProvider } from '../../users/sign-in/id-token.ts'
import { readBrowser } from '../../users/sign-in/known-sources.ts'
import { findRole } from '../../users/store.ts'
import { sizeOf } from '../api/rest.ts'
import { toHeaders } from './pages.ts'

/**
 * Charges the network of a caller before anything is read for them: the account of a call is only known afterwards. Returns
 * the key of the network.
 */
export async function chargeNetwork(workLimiter: WorkLimiter, request: FastifyRequest): Promise<string> {
  const network = networkOf(request.ip)
  await workLimiter.acquire(network, costOf({ budget: 'reads' }, sizeOf(request)))
  return network
}

/** The services that sign users in. */
export interface AuthServices {
  userAuth: UserAuth
  /** The OIDC provider, if one is configured. */
  oidc: OidcProvider | undefined
  /** Whether this server is the sandbox. */
  sandbox: boolean
  /** Records when and from where a session was used. */
  recordSessionUse(sessionId: string, address: string): void
  runInBackground: RunInBackground
}

/** A call that reads or changes the settings of an account. */
export interface SettingsCall extends ProcedureCall {
  /** Whether the caller is an operator of the server on its command line, and not a user. */
  isCommandLine: boolean
  /** Whether the caller views the account as an operator, and may not read what recipients wrote. */
  isOperatorView: boolean
  /** Throws SIGN_IN_REQUIRED if the caller has no session. */
  user(): SignedIn
  runInBackground: RunInBackground
}

/** The caller of a dashboard procedure. */
export interface DashboardCall extends AuthServices, SettingsCall {
  /** The token of the caller's browser, if somebody has signed in with it before. */
  browser: string | undefined
}

/**
 * Checks the session, then the role or the operator's view. Both are read for every call, so that a removed member
 * loses access immediately. An account of others looks like one that does not exist.
 */
export async function authorizeUser(
  deps: Pick<Deps, 'db'>,
  authServices: AuthServices,
  contract: SessionProcedure,
  request: FastifyRequest,
  readInput: () => Promise<unknown>,
): Promise<DashboardCall> {
  const headers = toHeaders(request)
  // The account that the input names decides who may call.
  const accountId = readAccountId(await readInput())
  if (contract.kind === 'mutation') assertSameOrigin(headers)
  const isPublic = contract.audience === 'dashboard' && contract.allowed === 'anybody'
  const user = isPublic ? undefined : await authServices.userAuth.findSession(headers)
  if (!isPublic && !user) throw new ServiceError('SIGN_IN_REQUIRED', errorFacts.signedOut())
  if (user) authServices.recordSessionUse(user.sessionId, request.ip)
  const isOperatorView = user ? (await assertAllowed(deps.db, contract, user, accountId)) === 'operator view' : false
  const ofAccount = isOfAccount(contract) && accountId !== '' ? accountId : undefined
  return {
    ...authServices,
    accountId: isOfAccount(contract) ? accountId : undefined,
    workKey: ofAccount ?? user?.userId ?? networkOf(request.ip),
    slot: request.slot,
    address: request.ip,
    browser: readBrowser(request.headers.cookie),
    isCommandLine: false,
    isOperatorView,
    user: () => signedIn(user),
    actor: () => signedIn(user).email,
    assertStillAllowed: async () => void (await authorizeUser(deps, authServices, contract, request, readInput)),
  }
}

function signedIn(user: SignedIn | undefined): SignedIn {
  if (user) return user
  throw new ServiceError('SIGN_IN_REQUIRED', errorFacts.signInFirst())
}

/** Empty if the input names no valid ID. The database must not see one: it rejects a NUL. */
function readAccountId(input: unknown): string {
  const named = typeof input === 'object' && input !== null && 'accountId' in input ? input.accountId : undefined
  return AccountId.safeParse(named).data ?? ''
}

function isOfAccount(contract: SessionProcedure): boolean {
  if (contract.audience === 'operator') return 'accountId' in contract.input.shape
  return contract.allowed === 'owner' || contract.allowed === 'viewer'
}

/** Returns `operator view` if the caller is not a member of the account, and may only read it. */
async function assertAllowed(
  db: Kysely<Database>,
  contract: SessionProcedure,
  user: SignedIn,
  accountId: string,
): Promise<'operator view' | undefined> {
  if (contract.audience === 'operator') {
    assertOperator(await readOperatorAccess(db, user))
    return undefined
  }
  const { allowed, kind, membersOnly } = contract
  if (allowed === 'anybody' || allowed === 'signed-in') return undefined
  const role = await findRole(db, accountId, user.userId)
  if (role !== undefined) {
    assertRole(allowed, role)
    return undefined
  }
  const [view] = await findAccountViews(db, { sessionId: user.sessionId, accountId })
  if (!view) throw new ServiceError('NOT_FOUND', errorFacts.notYourAccount())
  if (membersOnly)
    throw new ServiceError('ROLE_REQUIRED', 'You view this account as an operator, and only its members can read this.')
  // Viewers may change their own settings, such as saved views. Operators may change nothing.
  if (allowed !== 'viewer' || kind === 'mutation') throw new ServiceError('ROLE_REQUIRED', errorFacts.viewOnly())
  return 'operator view'
}

function assertRole(needed: Role, role: Role): void {
  if (needed === 'owner' && role !== 'owner') throw new ServiceError('ROLE_REQUIRED', errorFacts.viewer())
}

/** To everyone else, the console does not exist. */
function assertOperator(access: OperatorAccess | undefined): void {
  switch (access) {
    case 'granted':
      return
    case undefined:
      throw new ServiceError('NOT_FOUND', 'There is no such procedure.')
    case 'needs_authenticator':
      throw new ServiceError('ROLE_REQUIRED', errorFacts.authenticatorNeeded())
    case 'needs_code':
      throw new ServiceError('ROLE_REQUIRED', errorFacts.codeNeeded())
  }
}

/**
 * Browsers send the origin of a request, and a page cannot forge it (Fetch, section "Origin header"). In addition,
 * cookies are `SameSite=Lax`.
 */
function assertSameOrigin(headers: Headers): void {
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  if (site !== null && site !== 'same-origin') throw foreignOrigin()
  if (origin !== null && (!URL.canParse(origin) || new URL(origin).host !== headers.get('host'))) throw foreignOrigin()
}

function foreignOrigin(): ServiceError {
  return new ServiceError('FOREIGN_ORIGIN', errorFacts.otherSite())
}

/** Runs work that a request starts but does not wait for. Beyond `max` concurrent tasks, work is dropped. */
type RunInBackground = (work: () => Promise<void>) => void

export function createBackgroundRunner(log: Logger, max: number): RunInBackground {
  let running = 0
  return (work) => {
    if (running >= max) {
      log.warn('background task limit reached; dropped a task')
      return
    }
    running++
    // Start after the response: its timing must not reveal whether there is work to do.
    setImmediate(() => {
      work()
        .catch((error: unknown) => log.error({ err: error }, 'a background task failed'))
        .finally(() => running--)
    })
  }
}
