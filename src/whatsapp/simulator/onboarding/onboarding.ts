import { failOnboarding, failPlainParameter, refuseAppSecret } from '../errors.ts'
import { ok, pickFields, type ReceivedRequest, type SimulatedResponse } from '../exchange.ts'
import { marketingOf } from '../messages/endpoint.ts'
import { businessIdOf } from './phone-numbers.ts'
import type { SimulatedApp, SimulatedNumber, SimulatorState } from '../state.ts'
import { bearerOf, findAppOfToken, findAccess, type TokenAccess } from './tokens.ts'

/** `GET /me/businesses`: the business portfolios of the token's WABAs. */
export function listBusinesses(wabaIds: string[]): SimulatedResponse {
  const ids = new Set(wabaIds.map(businessIdOf))
  return ok({ data: [...ids].map((id) => ({ id, name: businessNameOf(id) })) })
}

function businessNameOf(id: string): string {
  return `Business ${id.slice(-4)}`
}

/** `GET /<business ID>/owned_whatsapp_business_accounts`: reference 2, section 5.2. */
export function listOwnedAccounts(state: SimulatorState, wabaIds: string[], businessId: string): SimulatedResponse {
  const owned = wabaIds.filter((wabaId) => businessIdOf(wabaId) === businessId)
  return ok({ data: owned.map((wabaId) => toAccount(state, wabaId)) })
}

const defaultAccountFields = ['name', 'currency', 'timezone_id', 'message_template_namespace']

/** `GET /<WABA ID>`: reference 2, section 5.2. */
export function getBusinessAccount(state: SimulatorState, wabaId: string, query: URLSearchParams): SimulatedResponse {
  const payment = state.businessAccounts.get(wabaId)?.payment
  if (payment === undefined && query.get('fields')?.split(',').includes('primary_funding_id'))
    return failOnboarding(10, '(#10) This endpoint requires the Business that owns this App to be a solution partner.')
  const account = {
    ...toAccount(state, wabaId),
    status: 'ACTIVE',
    country: 'ES',
    account_review_status: 'APPROVED',
    business_verification_status: 'verified',
    ownership_type: 'SELF_OWNED',
    owner_business_info: { id: businessIdOf(wabaId), name: businessNameOf(businessIdOf(wabaId)) },
    subscribed_apps: { data: listSubscribedApps(state, wabaId) },
    marketing_messages_onboarding_status: marketingOf(state, wabaId).onboardingStatus,
    disable_marketing_messages_on_cloud_api: marketingOf(state, wabaId).offCloudApi,
    ...(payment === 'present' && { primary_funding_id: `7${wabaId.slice(1)}` }),
  }
  return ok(pickFields(account, query, defaultAccountFields))
}

function toAccount(state: SimulatorState, wabaId: string): object {
  return {
    id: wabaId,
    name: state.businessAccounts.get(wabaId)?.name ?? 'Simulated Business',
    currency: 'EUR',
    timezone_id: '1',
    message_template_namespace: `00000000_0000_0000_0000_${wabaId.slice(-12).padStart(12, '0')}`,
  }
}

/** After this many wrong PINs the number is locked. */
const maxWrongPins = 3
/** Reference 2, section 5.3: per number in 72 hours. */
const maxRegistrations = 10

/** `POST /<phone number ID>/register`: reference 2, section 5.3. */
export function registerNumber(number: SimulatedNumber, request: ReceivedRequest): SimulatedResponse {
  const pin = fieldOf(request, 'pin')
  if (pin === undefined || !/^\d{6}$/.test(pin)) return failPlainParameter('pin')
  number.registrations++
  if (number.registrations > maxRegistrations) return failOnboarding(133016)
  if (number.wrongPins >= maxWrongPins) return failOnboarding(133008)
  if (number.pin !== undefined && number.pin !== pin) {
    number.wrongPins++
    return failOnboarding(133005)
  }
  number.pin = pin
  number.wrongPins = 0
  number.onBusinessApp = false
  number.status = 'CONNECTED'
  return ok({ success: true })
}

/** `POST /<phone number ID>/deregister`. */
export function deregisterNumber(number: SimulatedNumber): SimulatedResponse {
  number.status = 'PENDING'
  return ok({ success: true })
}

/** `/<WABA ID>/subscribed_apps`: reference 2, section 5.4. It applies to the app of the token. */
export async function handleSubscribedApps(
  state: SimulatorState,
  { token }: TokenAccess,
  wabaId: string,
  request: ReceivedRequest,
): Promise<SimulatedResponse | undefined> {
  const apps = state.subscriptions.get(wabaId) ?? new Map<string, { overrideCallbackUrl?: string }>()
  state.subscriptions.set(wabaId, apps)
  if (request.method === 'GET') return ok({ data: listSubscribedApps(state, wabaId) })
  if (request.method === 'DELETE') {
    apps.delete(token.appId)
    return ok({ success: true })
  }
  if (request.method !== 'POST') return undefined
  const overrideCallbackUrl = fieldOf(request, 'override_callback_uri')
  if (overrideCallbackUrl !== undefined) {
    // An override requires a subscription (reference 2, section 5.4).
    if (!apps.has(token.appId)) return failPlainParameter('override_callback_uri')
    const problem = await verifyCallback(overrideCallbackUrl, fieldOf(request, 'verify_token') ?? '')
    if (problem) return problem
  }
  apps.set(token.appId, overrideCallbackUrl === undefined ? {} : { overrideCallbackUrl })
  return ok({ success: true })
}

function listSubscribedApps(state: SimulatorState, wabaId: string): object[] {
  return Array.from(state.subscriptions.get(wabaId) ?? [], ([id, { overrideCallbackUrl }]) => ({
    whatsapp_business_api_data: { id, name: state.apps.get(id)?.name ?? '', link: `https://apps.example/${id}` },
    ...(overrideCallbackUrl !== undefined && { override_callback_uri: overrideCallbackUrl }),
  }))
}

/** `/<app ID>/subscriptions`, with an app token. Undefined if the app does not exist. */
export async function handleAppSubscriptions(
  state: SimulatorState,
  appId: string,
  request: ReceivedRequest,
): Promise<SimulatedResponse | undefined> {
  if (!state.apps.has(appId)) return undefined
  const app = findAppOfToken(state, bearerOf(request))
  if (app?.id !== appId) return refuseAppSecret()
  if (request.method === 'GET') return ok({ data: app.subscription ? [toSubscription(app.subscription)] : [] })
  if (request.method === 'DELETE') {
    delete app.subscription
    return ok({ success: true })
  }
  if (request.method !== 'POST') return undefined
  return subscribe(app, request)
}

async function subscribe(app: SimulatedApp, request: ReceivedRequest): Promise<SimulatedResponse> {
  const callbackUrl = fieldOf(request, 'callback_url')
  const fields = fieldOf(request, 'fields')?.split(',') ?? []
  if (fieldOf(request, 'object') !== 'whatsapp_business_account') return failPlainParameter('object')
  if (callbackUrl === undefined || !URL.canParse(callbackUrl)) return failPlainParameter('callback_url')
  if (fields.length === 0) return failPlainParameter('fields')
  const problem = app.unreachable
    ? failHandshake(unreachable)
    : await verifyCallback(callbackUrl, fieldOf(request, 'verify_token') ?? '')
  if (problem) return problem
  app.subscription = { callbackUrl, fields }
  return ok({ success: true })
}

function toSubscription({ callbackUrl, fields }: NonNullable<SimulatedApp['subscription']>): object {
  return {
    object: 'whatsapp_business_account',
    callback_url: callbackUrl,
    active: true,
    fields: fields.map((name) => ({ name, version: 'v25.0' })),
  }
}

const handshakeMilliseconds = 5_000
const unreachable = 'curl_errno = 7; curl_error = Failed to connect'

function failHandshake(reason: string): SimulatedResponse {
  return failOnboarding(2200, `Callback verification failed with the following errors: ${reason}`)
}

/** Performs the handshake (reference, section 4.1). Returns an error if it fails. */
async function verifyCallback(callbackUrl: string, verifyToken: string): Promise<SimulatedResponse | undefined> {
  const challenge = String(Math.floor(Math.random() * 1e9))
  const url = new URL(callbackUrl)
  url.searchParams.set('hub.mode', 'subscribe')
  url.searchParams.set('hub.challenge', challenge)
  url.searchParams.set('hub.verify_token', verifyToken)
  try {
    const response = await fetch(url, { redirect: 'manual', signal: AbortSignal.timeout(handshakeMilliseconds) })
    if (response.status !== 200)
      return failHandshake(`HTTP Status Code = ${response.status}; HTTP Message = ${response.statusText}`)
    return (await response.text()) === challenge ? undefined : failHandshake('the challenge was not returned')
  } catch {
    return failHandshake(unreachable)
  }
}

/** `GET /oauth/access_token`: issues an app token, or a token that expires in 60 days (reference, section 5). */
export function issueToken(state: SimulatorState, { query }: ReceivedRequest): SimulatedResponse {
  const app = findAppOfToken(state, `${query.get('client_id')}|${query.get('client_secret')}`)
  if (!app) return refuseAppSecret()
  if (query.get('grant_type') === 'client_credentials')
    return ok({ access_token: `${app.id}|${app.secret}`, token_type: 'bearer' })
  if (query.get('grant_type') !== 'fb_exchange_token') return failPlainParameter('grant_type')
  const access = findAccess(state, query.get('fb_exchange_token') ?? '')
  if ('kind' in access) return access
  const { token, wabaIds } = access
  if (token.appId !== app.id) return refuseAppSecret()
  const refusal = token.refuses?.['GET oauth']
  if (refusal !== undefined) return failOnboarding(refusal)
  const accessToken = `EAArefreshed${state.tokens.size}${Math.floor(state.now())}`
  const expiresIn = 60 * 86_400
  const renewed = { ...token, wabaIds, expiresAt: Math.floor(state.now() / 1000) + expiresIn }
  state.tokens.set(accessToken, renewed)
  return ok({ access_token: accessToken, token_type: 'bearer', expires_in: expiresIn })
}

/** Graph accepts parameters in a JSON body or in the query. */
function fieldOf({ body, query }: ReceivedRequest, name: string): string | undefined {
  const value = typeof body === 'object' && body !== null ? (body as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' ? value : (query.get(name) ?? undefined)
}
