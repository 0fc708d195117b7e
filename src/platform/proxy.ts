import { setGlobalProxyFromEnv } from 'node:http'
import ipaddr from 'ipaddr.js'

/** The proxies that outgoing HTTP requests use, as in `HTTPS_PROXY`, `HTTP_PROXY` and `NO_PROXY`. */
export interface ProxySettings {
  https: URL | undefined
  http: URL | undefined
  direct: DirectRule[]
}

/** What is reached without a proxy: a host with its subdomains or a range of addresses, at one port or at all. */
interface DirectRule {
  text: string
  host?: string
  range?: ReturnType<typeof ipaddr.parseCIDR>
  port?: number
}

/** The requested server: `hostname` of an IPv6 address may have brackets, and an absent port is the protocol's own. */
export interface ProxyTarget {
  protocol: string
  hostname: string
  port?: string | undefined
}

/** Returns undefined if the text is not the URL of a proxy. Without a scheme, it is an http proxy. */
export function parseProxyUrl(text: string): URL | undefined {
  const url = URL.parse(text.includes('://') ? text : `http://${text}`)
  const isProxy =
    url && ['http:', 'https:'].includes(url.protocol) && url.pathname === '/' && url.search + url.hash === ''
  return isProxy && readCredentials(url) !== undefined ? url : undefined
}

/** Returns undefined if a `%` in them is not encoded as `%25`. */
function readCredentials({ username, password }: URL): string | undefined {
  try {
    return `${decodeURIComponent(username)}:${decodeURIComponent(password)}`
  } catch {
    return undefined
  }
}

/** Entries are separated by commas or spaces. */
export function parseNoProxy(text: string): DirectRule[] {
  return text
    .split(/[\s,]+/)
    .filter((entry) => entry !== '')
    .map(parseRule)
}

function parseRule(text: string): DirectRule {
  if (ipaddr.isValidCIDR(text)) return { text, range: ipaddr.parseCIDR(text) }
  if (ipaddr.isValid(text)) return { text, host: normalizeHost(text) }
  const [, host = text, port] = /^(.+?)(?::(\d{1,5}))?$/.exec(text) ?? []
  return { text, host: normalizeHost(host.replace(/^\*?\./, '')), ...(port !== undefined && { port: Number(port) }) }
}

const defaultPorts: Record<string, number> = { 'https:': 443, 'http:': 80 }

/** Returns the proxy for a request; undefined if it goes directly to the server. This machine is always reached directly. */
export function findProxy(settings: ProxySettings | undefined, target: ProxyTarget): URL | undefined {
  const proxy = target.protocol === 'https:' ? settings?.https : settings?.http
  if (!settings || !proxy) return undefined
  const host = normalizeHost(target.hostname)
  const port = Number(target.port) || defaultPorts[target.protocol]
  return isLoopback(host) || settings.direct.some((rule) => matches(rule, host, port)) ? undefined : proxy
}

function matches(rule: DirectRule, host: string, port: number | undefined): boolean {
  if (rule.port !== undefined && rule.port !== port) return false
  if (rule.range) return isIn(host, rule.range)
  return rule.host === '*' || host === rule.host || host.endsWith(`.${rule.host}`)
}

function isIn(host: string, range: ReturnType<typeof ipaddr.parseCIDR>): boolean {
  if (!ipaddr.isValid(host)) return false
  const address = ipaddr.parse(host)
  return address.kind() === range[0].kind() && address.match(range)
}

function isLoopback(host: string): boolean {
  if (ipaddr.isValid(host)) return ipaddr.process(host).range() === 'loopback'
  return host === 'localhost' || host.endsWith('.localhost')
}

/** One spelling of each name and address. */
function normalizeHost(host: string): string {
  const bare = host.toLowerCase().replace(/^\[(.*)\]$/, '$1')
  return ipaddr.isValid(bare) ? ipaddr.process(bare).toString() : bare.replace(/(.)\.$/, '$1')
}

/** Describes the settings for operators, without user names and passwords. */
export function describeProxies({ https, http, direct }: ProxySettings): string {
  const parts = [
    ...(https ? [`https requests go through ${https.origin}`] : []),
    ...(http ? [`http requests go through ${http.origin}`] : []),
  ]
  const exceptions = ['this machine', ...direct.map(({ text }) => text)]
  return `${parts.join(', ')}, except to ${exceptions.join(', ')}`
}

/** The `Proxy-Authorization` header for the user name and password in the URL of a proxy. */
export function authorizeAtProxy(proxy: URL): Record<string, string> {
  const credentials = readCredentials(proxy)
  if (credentials === undefined || credentials === ':') return {}
  return { 'proxy-authorization': `Basic ${Buffer.from(credentials).toString('base64')}` }
}

/** A dispatcher of the undici that Node contains. */
interface Dispatcher {
  dispatch(options: { origin: string | URL }, handler: object): boolean
}

/** Where `fetch` finds its dispatcher, by the version of undici. */
const dispatcherSlots = [Symbol.for('undici.globalDispatcher.1'), Symbol.for('undici.globalDispatcher.2')]

function readDispatcher(slot: symbol): Dispatcher | undefined {
  return Reflect.get(globalThis, slot) as Dispatcher | undefined
}

/**
 * Lets `fetch`, which calls the OpenID provider, use the proxies. Node has a setting for the whole process only, which knows
 * fewer forms of NO_PROXY. So each request gets its dispatcher here, with the proxies or without. Returns a function that
 * ends this.
 */
export function useProxiesForFetch(proxies: ProxySettings | undefined): () => void {
  if (!proxies) return () => {}
  const restore = setGlobalProxyFromEnv({
    ...(proxies.https && { HTTPS_PROXY: proxies.https.href }),
    ...(proxies.http && { HTTP_PROXY: proxies.http.href }),
  })
  const proxied = new Map(dispatcherSlots.map((slot) => [slot, readDispatcher(slot)]))
  restore()
  const stops = dispatcherSlots.map((slot) => chooseDispatcher(slot, proxies, proxied.get(slot)))
  return () => {
    for (const stop of stops) stop()
  }
}

function chooseDispatcher(slot: symbol, proxies: ProxySettings, proxied: Dispatcher | undefined): () => void {
  const direct = readDispatcher(slot)
  // This version of undici does not use the slot.
  if (!direct || !proxied) return () => {}
  const dispatch: Dispatcher['dispatch'] = (options, handler) =>
    (findProxy(proxies, new URL(options.origin)) ? proxied : direct).dispatch(options, handler)
  Reflect.set(globalThis, slot, { dispatch })
  return () => void Reflect.set(globalThis, slot, direct)
}
