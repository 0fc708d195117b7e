import type { FastifyRequest } from 'fastify'
import { ServiceError } from '../../../contracts/errors.ts'
import { CustomerId } from '../../../contracts/fields.ts'
import type { AllowedCaller, Role, DashboardProcedure } from '../../../contracts/procedure.ts'
import type { Deps } from '../../deps.ts'
import type { UserAuth, SignedIn } from '../../users/sign-in/better-auth.ts'
import type { OidcProvider } from '../../users/sign-in/options.ts'
import { findRole } from '../../users/store.ts'
import type { ProcedureCall } from '../api/procedures.ts'
import type { RunAside } from './aside.ts'
import { toHeaders } from './pages.ts'

/** How people get in. */
export interface AuthServices {
  userAuth: UserAuth
  /** Where an organisation's own provider is set up. */
  oidc: OidcProvider | undefined
  /** Whether this server is the sandbox. */
  sandbox: boolean
  /** Records when and from where a session was used. */
  sawSession(sessionId: string, address: string): void
  aside: RunAside
}

/** What a settings procedure learns of its caller. */
export interface DashboardCall extends AuthServices, ProcedureCall {
  /** The caller's address, after `TRUST_PROXY`. */
  address: string
  /** Throws SIGN_IN_REQUIRED if the caller has no session. */
  person(): SignedIn
}

/**
 * Session, then role. The role is read anew for every call: a member who is removed loses access at
 * once. An account that is not theirs answers as one that does not exist.
 */
export async function authorizeMember(
  { db }: Pick<Deps, 'db'>,
  authServices: AuthServices,
  { allowed, kind }: Pick<DashboardProcedure, 'allowed' | 'kind'>,
  request: FastifyRequest,
  readInput: () => Promise<unknown>,
): Promise<DashboardCall> {
  const headers = toHeaders(request)
  // The account that is named decides who may call.
  const accountId = readAccountId(await readInput())
  if (kind === 'mutation') assertSameOrigin(headers)
  const person = allowed === 'anybody' ? undefined : await authServices.userAuth.findSession(headers)
  if (allowed !== 'anybody' && !person)
    throw new ServiceError('SIGN_IN_REQUIRED', 'You are not signed in, or your session has ended. Sign in again.')
  if (person) authServices.sawSession(person.sessionId, request.ip)
  if (person && isRole(allowed)) assertRole(allowed, await findRole(db, accountId, person.userId))
  return {
    ...authServices,
    accountId: isRole(allowed) ? accountId : undefined,
    slot: request.slot,
    address: request.ip,
    person: () => {
      if (person) return person
      throw new ServiceError('SIGN_IN_REQUIRED', 'Sign in first.')
    },
  }
}

/** What cannot be an ID names no account: the database would stumble over a NUL. */
function readAccountId(input: unknown): string {
  const named = typeof input === 'object' && input !== null && 'accountId' in input ? input.accountId : undefined
  return CustomerId.safeParse(named).data ?? ''
}

function isRole(allowed: AllowedCaller): allowed is Role {
  return allowed === 'owner' || allowed === 'viewer'
}

function assertRole(needed: Role, role: Role | undefined): void {
  if (role === undefined) throw new ServiceError('NOT_FOUND', 'accountId: you have no account with this ID.')
  if (needed === 'owner' && role !== 'owner')
    throw new ServiceError('ROLE_REQUIRED', 'Viewers cannot change anything. Ask an owner of this account.')
}

/**
 * A browser says where a request comes from, and a page cannot lie about it (Fetch, section "Origin header").
 * Cookies are `SameSite=Lax` besides.
 */
function assertSameOrigin(headers: Headers): void {
  const site = headers.get('sec-fetch-site')
  const origin = headers.get('origin')
  if (site !== null && site !== 'same-origin') throw foreign()
  if (origin !== null && (!URL.canParse(origin) || new URL(origin).host !== headers.get('host'))) throw foreign()
}

function foreign(): ServiceError {
  return new ServiceError(
    'FOREIGN_ORIGIN',
    'This request was rejected because it came from a site other than the dashboard. Behind a proxy, pass the Host header on unchanged.',
  )
}
