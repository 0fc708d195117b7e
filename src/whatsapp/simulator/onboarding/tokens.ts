import { refuseToken, refuseExpiredToken } from '../errors.ts'
import type { SimulatedApp, SimulatedNumber, SimulatedToken, SimulatorState } from '../state.ts'
import { ok, type ReceivedRequest, type SimulatedResponse } from '../exchange.ts'

export const demoAppId = '300000000000001'

export const defaultScopes = ['whatsapp_business_management', 'whatsapp_business_messaging']

/** What an access token may do. */
export interface TokenAccess {
  token: SimulatedToken
  /** The numbers that it may use. */
  numbers: SimulatedNumber[]
  wabaIds: string[]
}

export function bearerOf({ headers, query }: ReceivedRequest): string {
  const { authorization } = headers
  if (typeof authorization === 'string') return authorization.replace(/^(Bearer|OAuth) /i, '')
  return query.get('access_token') ?? ''
}

/** Returns an error response for a token that is unknown or has expired. */
export function findAccess(state: SimulatorState, accessToken: string): TokenAccess | SimulatedResponse {
  const access = accessOf(state, accessToken)
  if (!access) return refuseToken()
  return hasExpired(state, access.token) ? refuseExpiredToken(access.token.expiresAt) : access
}

function accessOf(state: SimulatorState, accessToken: string): TokenAccess | undefined {
  const added = state.tokens.get(accessToken)
  const numbers = [...state.numbers.values()].filter(
    (number) => number.accessToken === accessToken || added?.wabaIds?.includes(number.wabaId) === true,
  )
  if (!added && numbers.length === 0) return undefined
  const token = added ?? { appId: demoAppId, scopes: defaultScopes, expiresAt: 0 }
  return { token, numbers, wabaIds: token.wabaIds ?? [...new Set(numbers.map(({ wabaId }) => wabaId))] }
}

function hasExpired(state: SimulatorState, { expiresAt }: SimulatedToken): boolean {
  return expiresAt !== 0 && expiresAt * 1000 <= state.now()
}

/** An app token is `<app ID>|<app secret>`. */
export function findAppOfToken(state: SimulatorState, accessToken: string): SimulatedApp | undefined {
  const [id = '', secret] = accessToken.split('|')
  const app = state.apps.get(id)
  return app !== undefined && app.secret === secret ? app : undefined
}

/**
 * `GET /debug_token`: reference 2, section 5.1. The request needs a valid token of the same app, so an expired token
 * cannot inspect itself, but an app token can inspect an expired one.
 */
export function debugToken(state: SimulatorState, request: ReceivedRequest): SimulatedResponse {
  const bearer = bearerOf(request)
  const app = findAppOfToken(state, bearer)
  const requester = app ? undefined : findAccess(state, bearer)
  if (requester !== undefined && 'kind' in requester) return requester
  const inspected = accessOf(state, request.query.get('input_token') ?? '')
  if (!inspected || inspected.token.appId !== (app?.id ?? requester?.token.appId))
    return ok({ data: { is_valid: false, scopes: [], error: { code: 190, message: 'Invalid OAuth access token.' } } })
  return ok({ data: describe(state, inspected) })
}

function describe(state: SimulatorState, { token, wabaIds }: TokenAccess): object {
  const { appId, scopes, expiresAt } = token
  const expired = hasExpired(state, token)
  return {
    app_id: appId,
    application: state.apps.get(appId)?.name ?? 'Simulated app',
    type: 'SYSTEM_USER',
    is_valid: !expired,
    issued_at: Math.floor(state.now() / 1000) - 86_400,
    expires_at: expiresAt,
    data_access_expires_at: 0,
    user_id: '104000000000001',
    scopes,
    granular_scopes: scopes.map((scope) => ({
      scope,
      ...(scope === 'whatsapp_business_management' && { target_ids: wabaIds }),
    })),
    ...(expired && {
      error: { code: 190, message: 'Error validating access token: Session has expired.', subcode: 463 },
    }),
  }
}
