import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { callbackFields } from '../callbacks/subscription.ts'
import { demoTemplates } from './templates/demo-templates.ts'
import { unknownVersion } from './errors.ts'
import { receive, respond, servedVersion } from './http.ts'
import { type CallbackTarget, StatusReporter } from './messages/reporter.ts'
import { route } from './route.ts'
import { sandboxTokens, type SandboxToken } from './onboarding/sandbox-tokens.ts'
import { marketingOf } from './messages/endpoint.ts'
import type {
  AcceptedMessage,
  MarketingState,
  SimulatedApp,
  SimulatedNumber,
  SimulatedToken,
  SimulatedBusinessAccount,
  SimulatorState,
} from './state.ts'
import { TemplateReviewer } from './templates/template-review.ts'
import { defaultScopes, demoAppId } from './onboarding/tokens.ts'
import type { ReceivedRequest, SimulatedResponse } from './exchange.ts'
import { createTemplateList, type TemplateList } from './templates/template-list.ts'

export interface SimulatorOptions {
  /** 0 selects a free port. */
  port?: number
  host?: string
  /** Access token of the demo number. */
  accessToken?: string
  /** Called for every accepted message, before the response is sent. */
  onAccepted?: (message: AcceptedMessage) => void
  /** Adds the numbers and tokens of the sandbox. */
  sandbox?: boolean
}

type NumberToAdd = Pick<SimulatedNumber, 'phoneNumberId' | 'wabaId' | 'accessToken'> & Partial<SimulatedNumber>

/** Returns a response in place of the simulator's, or undefined to let the simulator respond. */
type Interceptor = (request: ReceivedRequest) => SimulatedResponse | undefined | Promise<SimulatedResponse | undefined>

/** A simulator of the Graph API on a local port. It behaves as documented and can simulate failures. */
export interface Simulator {
  /** Base URL, without the version. */
  url: string
  /** The demo number, its WhatsApp Business Account and their access token. */
  phoneNumberId: string
  wabaId: string
  accessToken: string
  /** Templates of the demo account. Changes take effect immediately. */
  templates: TemplateList
  /** Templates of another account. */
  templatesOf(wabaId: string): TemplateList
  /** Uploaded files by media ID. A test can delete one, as WhatsApp does after 30 days. */
  media: SimulatorState['media']
  /** The latest 1,000 requests, oldest first. */
  requests: ReceivedRequest[]
  phoneNumberIds(): Iterable<string>
  addPhoneNumber(number: NumberToAdd): SimulatedNumber
  /** Adds a token with properties of its own, or replaces them. */
  addToken(accessToken: string, token: Partial<SimulatedToken>): void
  /** Adds a Meta app, or replaces it. The demo app is `300000000000001`. */
  addApp(app: SimulatedApp): void
  setBusinessAccount(wabaId: string, account: SimulatedBusinessAccount): void
  /** Changes how a WABA sends marketing templates. */
  setMarketing(wabaId: string, marketing: Partial<MarketingState>): void
  /** The apps that are subscribed to a WABA. */
  subscribedApps(wabaId: string): string[]
  /** The callback URL and fields of an app. */
  callbackOf(appId: string): SimulatedApp['subscription']
  /** Sets the interceptor, which replaces an earlier one; undefined removes it. */
  intercept(interceptor: Interceptor | undefined): void
  /**
   * Sets the callback URL and the secret of the demo app without a handshake; undefined removes the URL. An app receives
   * the statuses of the WABAs that it is subscribed to.
   */
  reportTo(target: CallbackTarget | undefined): void
  /** Closes all connections, including those that wait for a response. */
  stop(): Promise<void>
}

const demo = {
  phoneNumberId: '100000000000001',
  wabaId: '200000000000001',
  accessToken: 'simulated-access-token',
  displayPhoneNumber: '+1 555-010-0000',
  verifiedName: 'Waybill Demo Shop',
} as const

const maxRequests = 1000

export async function startSimulator(options: SimulatorOptions = {}): Promise<Simulator> {
  let onCallbackAccepted: CallbackTarget['onCallbackAccepted']
  const state: SimulatorState = {
    numbers: new Map(),
    templates: new Map(),
    apps: new Map([[demoAppId, { id: demoAppId, name: 'Waybill demo app', secret: randomBytes(16).toString('hex') }]]),
    tokens: new Map(),
    businessAccounts: new Map(),
    marketing: new Map(),
    addressed: new Map(),
    subscriptions: new Map(),
    media: new Map(),
    nextMediaId: countFrom(1_100_000_000_000_001),
    uploads: new Map(),
    samples: new Map(),
    deletedTemplates: new Set(),
    contacts: new Map(),
    reviewer: new TemplateReviewer((wabaId, field) => findCallbackTarget(state, wabaId, field)),
    now: () => Date.now(),
    randomBytes,
    onAccepted: (message) => {
      options.onAccepted?.(message)
      reporter.follow(message, message.plan)
    },
  }
  const reporter = new StatusReporter(({ wabaId }, field) => {
    const target = findCallbackTarget(state, wabaId, field)
    return target && { ...target, ...(onCallbackAccepted && { onCallbackAccepted }) }
  }, randomBytes)
  const nextTemplateId = countFrom(1_000_000_000_000_001)
  const requests: ReceivedRequest[] = []
  let interceptor: Interceptor | undefined
  let url = ''

  const server = createServer({ keepAliveTimeout: keepAliveMilliseconds }, (request, output) => {
    receive(request)
      .then(async (received) => {
        // Without the bytes, because an uploaded sample can have 100 MB.
        if (requests.push({ ...received, bytes: Buffer.alloc(0) }) > maxRequests) requests.shift()
        const version = servedVersion(received.version, state.now())
        const response = (await interceptor?.(received)) ?? (await respondAs(version, received))
        respond(output, response, version === undefined ? {} : { 'facebook-api-version': version })
      })
      .catch(() => output.destroy())
  })
  url = await listen(server, options)

  async function respondAs(version: string | undefined, request: ReceivedRequest): Promise<SimulatedResponse> {
    return version === undefined ? unknownVersion(request.path) : route(state, { ...request, version }, url)
  }

  function templatesOf(wabaId: string): TemplateList {
    const list = state.templates.get(wabaId) ?? createTemplateList(nextTemplateId)
    state.templates.set(wabaId, list)
    return list
  }

  function addPhoneNumber(number: NumberToAdd): SimulatedNumber {
    const added = { ...defaultNumber, ...number }
    state.numbers.set(added.phoneNumberId, added)
    templatesOf(added.wabaId)
    return added
  }

  const { phoneNumberId, wabaId, accessToken } = addPhoneNumber({
    ...demo,
    ...(options.accessToken === undefined ? {} : { accessToken: options.accessToken }),
  })
  for (const template of demoTemplates) templatesOf(wabaId).add(template)
  state.subscriptions.set(wabaId, new Map([[demoAppId, {}]]))
  state.businessAccounts.set(wabaId, { name: demo.verifiedName })

  function addToken(token: string, properties: Partial<SimulatedToken>): void {
    state.tokens.set(token, { appId: demoAppId, scopes: defaultScopes, expiresAt: 0, ...properties })
  }

  if (options.sandbox === true)
    for (const [index, token] of sandboxTokens.entries()) {
      const { number, accessToken, properties } = createSandboxNumber(token, index + 2, state.now())
      addToken(accessToken, properties)
      if (!number) continue
      addPhoneNumber(number)
      state.businessAccounts.set(number.wabaId, {
        name: number.verifiedName,
        ...(token.payment && { payment: token.payment }),
      })
      if (token.marketing) state.marketing.set(number.wabaId, token.marketing)
      for (const template of demoTemplates) templatesOf(number.wabaId).add(template)
    }

  return {
    url,
    phoneNumberId,
    wabaId,
    accessToken,
    templates: templatesOf(wabaId),
    templatesOf,
    media: state.media,
    requests,
    phoneNumberIds: () => state.numbers.keys(),
    addPhoneNumber,
    addToken,
    addApp: (app) => void state.apps.set(app.id, app),
    setBusinessAccount: (id, account) => void state.businessAccounts.set(id, account),
    setMarketing: (id, marketing) => void state.marketing.set(id, { ...marketingOf(state, id), ...marketing }),
    subscribedApps: (id) => [...(state.subscriptions.get(id)?.keys() ?? [])],
    callbackOf: (appId) => state.apps.get(appId)?.subscription,
    intercept: (next) => {
      interceptor = next
    },
    reportTo: (target) => {
      onCallbackAccepted = target?.onCallbackAccepted
      const app = state.apps.get(demoAppId)
      if (!app) return
      if (target)
        Object.assign(app, {
          secret: target.appSecret,
          subscription: { callbackUrl: target.url, fields: [...callbackFields] },
        })
      else delete app.subscription
      if (target && options.sandbox === true)
        state.apps.set(unreachableAppId, {
          id: unreachableAppId,
          name: 'Waybill demo app 2',
          secret: target.appSecret,
          unreachable: true,
        })
    },
    stop: () => {
      reporter.stop()
      state.reviewer.stop()
      return close(server)
    },
  }
}

/**
 * An app receives the callbacks of the WABAs that it is subscribed to at its own URL. A WABA can override the URL for
 * messages (reference 2, section 5.4).
 */
function findCallbackTarget(state: SimulatorState, wabaId: string, field: string): CallbackTarget | undefined {
  for (const [appId, { overrideCallbackUrl }] of state.subscriptions.get(wabaId) ?? []) {
    const app = state.apps.get(appId)
    if (app?.subscription?.fields.includes(field) !== true) continue
    const override = field === 'messages' ? overrideCallbackUrl : undefined
    return { url: override ?? app.subscription.callbackUrl, appSecret: app.secret }
  }
  return undefined
}

/** The app of `sandbox-token-callback-unreachable`, with the secret of the demo app. */
const unreachableAppId = '300000000000003'

/** The app of `sandbox-token-other-app`, whose secret is unknown to the sandbox. */
const otherAppId = '300000000000002'

/** Creates the business account and the number of a sandbox token. Their IDs end with the number of the token. */
function createSandboxNumber(sandboxToken: SandboxToken, index: number, now: number) {
  const {
    token: accessToken,
    expiresInSeconds,
    scopes,
    ofOtherApp,
    ofUnreachableApp,
    withoutAccounts,
    refuses,
  } = sandboxToken
  const {
    pin,
    status = 'PENDING',
    nameStatus = 'APPROVED',
    blocked,
    onBusinessApp,
    messagingLimit,
  } = sandboxToken.number ?? {}
  const suffix = String(index).padStart(2, '0')
  const wabaId = `2000000000000${suffix}`
  const number = {
    phoneNumberId: `1000000000000${suffix}`,
    wabaId,
    accessToken,
    displayPhoneNumber: `+1 555-010-00${suffix}`,
    verifiedName: `Sandbox Shop ${index - 1}`,
    status,
    nameStatus,
    ...(pin !== undefined && { pin }),
    ...(onBusinessApp && { onBusinessApp }),
    ...(messagingLimit !== undefined && { messagingLimit, enforcesLimit: true }),
    ...(blocked && {
      blockedBy: {
        error_code: 141006,
        error_description: 'There is an error with the payment method.',
        possible_solution: 'Check the payment method of the WhatsApp Business Account.',
      },
    }),
  }
  const properties: Partial<SimulatedToken> = {
    wabaIds: withoutAccounts ? [] : [wabaId],
    expiresAt: expiresInSeconds === undefined ? 0 : Math.floor(now / 1000) + expiresInSeconds,
    ...(scopes && { scopes: [...scopes] }),
    ...(ofOtherApp && { appId: otherAppId }),
    ...(ofUnreachableApp && { appId: unreachableAppId }),
    ...(refuses && { refuses }),
  }
  return { accessToken, properties, number: withoutAccounts ? undefined : number }
}

const defaultNumber = {
  displayPhoneNumber: '+1 555-010-0001',
  verifiedName: 'Simulated Business',
  callingCode: '1',
  status: 'CONNECTED',
  qualityRating: 'GREEN',
  nameStatus: 'APPROVED',
  codeVerificationStatus: 'VERIFIED',
  throughputLevel: 'STANDARD',
  messagingLimit: 'TIER_250',
  registrations: 0,
  wrongPins: 0,
}

/** Longer than a client keeps an idle connection: one that is closed while the client uses it again fails the request. */
const keepAliveMilliseconds = 65_000

async function listen(server: Server, { port = 0, host = '127.0.0.1' }: SimulatorOptions): Promise<string> {
  server.listen(port, host)
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('The simulator has no TCP address')
  return `http://${host.includes(':') ? `[${host}]` : host}:${address.port}`
}

async function close(server: Server): Promise<void> {
  const closed = once(server, 'close')
  server.close()
  server.closeAllConnections()
  await closed
}

function countFrom(first: number): () => string {
  let next = first
  return () => String(next++)
}
