import { deleteContact } from './contact-book.ts'
import { failOnboarding, failWith, unknownObject, unknownPath } from './errors.ts'
import { handleMedia, readSample, receiveUpload, startUpload, uploadMedia } from './media.ts'
import { sendMessage } from './messages/messages.ts'
import {
  deregisterNumber,
  getBusinessAccount,
  handleAppSubscriptions,
  handleSubscribedApps,
  issueToken,
  listBusinesses,
  listOwnedAccounts,
  registerNumber,
} from './onboarding/onboarding.ts'
import { handleBusinessProfile } from './onboarding/business-profile.ts'
import { getPhoneNumber, listPhoneNumbers } from './onboarding/phone-numbers.ts'
import type { SimulatedNumber, SimulatorState } from './state.ts'
import { createTemplate, deleteTemplates, editTemplate } from './templates/template-changes.ts'
import { getTemplate, listTemplates } from './templates/templates.ts'
import { bearerOf, debugToken, findAccess, type TokenAccess } from './onboarding/tokens.ts'
import type { ReceivedRequest, RoutedRequest, SimulatedResponse } from './exchange.ts'

/** `origin` is the simulator's address, because `paging.next` is an absolute URL. */
export async function route(
  state: SimulatorState,
  request: ReceivedRequest,
  origin: string,
): Promise<SimulatedResponse> {
  if (request.path === '/debug_token') return debugToken(state, request)
  if (request.path === '/oauth/access_token') return issueToken(state, request)
  if (request.path.startsWith('/samples/')) return readSample(state, request.path)
  const [, id = '', edge, ...rest] = request.path.split('/')
  if (edge === 'subscriptions') {
    const response = await handleAppSubscriptions(state, id, request)
    if (response) return response
  }
  const access = findAccess(state, bearerOf(request))
  if ('kind' in access) return access
  if (request.path.startsWith('/upload:')) return receiveUpload(state, request, origin)
  if (edge === 'uploads')
    return id === access.token.appId && request.method === 'POST'
      ? startUpload(state, request)
      : unknownObject(request.method, id)
  if (request.path === '/me/businesses')
    return findRefusal(access, 'GET businesses', 'business_management') ?? listBusinesses(access.wabaIds)
  if (!/^\d+$/.test(id) || rest.length > 0) return unknownPath(request.path)
  const routed = { ...request, id, edge }
  return (await routeObject(state, access, routed, origin)) ?? unknownObject(request.method, id)
}

async function routeObject(
  state: SimulatorState,
  access: TokenAccess,
  request: RoutedRequest,
  origin: string,
): Promise<SimulatedResponse | undefined> {
  if (request.edge === undefined)
    return handleMedia(state, access, request, origin) ?? routeNode(state, access, request)
  if (request.edge === 'owned_whatsapp_business_accounts' || request.edge === 'client_whatsapp_business_accounts')
    return listOwnedAccounts(state, request.edge.startsWith('owned') ? access.wabaIds : [], request.id)
  const number = access.numbers.find(({ phoneNumberId }) => phoneNumberId === request.id)
  if (number) return routeNumberEdge(state, access, number, request)
  return access.wabaIds.includes(request.id) ? routeWabaEdge(state, access, request, origin) : undefined
}

function routeNode(state: SimulatorState, access: TokenAccess, request: RoutedRequest) {
  const { method, id, query } = request
  if (method === 'POST') {
    const found = findTemplate(state, access, id)
    return found && (findRefusal(access, 'POST template') ?? editTemplate(state, found, request))
  }
  if (method !== 'GET') return undefined
  const number = access.numbers.find(({ phoneNumberId }) => phoneNumberId === id)
  if (number) return getPhoneNumber(state, access, number, request)
  if (access.wabaIds.includes(id)) return findRefusal(access, 'GET WABA') ?? getBusinessAccount(state, id, query)
  const lists = access.wabaIds.flatMap((wabaId) => state.templates.get(wabaId) ?? [])
  return getTemplate(lists, id, query)
}

function findTemplate(state: SimulatorState, { wabaIds }: TokenAccess, id: string) {
  for (const wabaId of wabaIds) {
    const list = state.templates.get(wabaId)
    const template = list?.all().find((one) => one.id === id)
    if (list && template) return { wabaId, list, template }
  }
  return undefined
}

function routeNumberEdge(
  state: SimulatorState,
  access: TokenAccess,
  number: SimulatedNumber,
  request: RoutedRequest,
): SimulatedResponse | undefined {
  const call = `${request.method} ${request.edge}`
  switch (call) {
    case 'POST messages':
    case 'POST marketing_messages':
      if (!access.token.scopes.includes('whatsapp_business_messaging')) return failOnboarding(10)
      if (number.status !== 'CONNECTED') return failWith(133010)
      return sendMessage(state, number, request.edge === 'messages' ? 'messages' : 'marketing_messages', request.body)
    case 'POST media':
      if (!access.token.scopes.includes('whatsapp_business_messaging')) return failOnboarding(10)
      return uploadMedia(state, number, request.body)
    case 'DELETE contact_book':
      return findRefusal(access, call, 'whatsapp_business_messaging') ?? deleteContact(state, number, request)
    case 'POST register':
      return findRefusal(access, call) ?? registerNumber(number, request)
    case 'POST deregister':
      return findRefusal(access, call) ?? deregisterNumber(number)
    case 'GET whatsapp_business_profile':
    case 'POST whatsapp_business_profile':
      return findRefusal(access, call) ?? handleBusinessProfile(number, request)
    default:
      return undefined
  }
}

async function routeWabaEdge(
  state: SimulatorState,
  access: TokenAccess,
  request: RoutedRequest,
  origin: string,
): Promise<SimulatedResponse | undefined> {
  const { method, id, edge = '', query, version } = request
  const call = `${method} ${edge}`
  const refusal = findRefusal(access, call)
  if (refusal) return refusal
  if (edge === 'subscribed_apps') return handleSubscribedApps(state, access, id, request)
  switch (call) {
    case 'GET message_templates':
      return listTemplates(state, id, query, [origin, version, id, edge].filter(Boolean).join('/'))
    case 'POST message_templates': {
      const list = state.templates.get(id)
      return list && createTemplate(state, id, list, request)
    }
    case 'DELETE message_templates': {
      const list = state.templates.get(id)
      return list && deleteTemplates(state, id, list, query)
    }
    case 'GET phone_numbers':
      return listPhoneNumbers(state, access, id, request)
    default:
      return undefined
  }
}

/** Returns an error if the token lacks the permission, or refuses the call. */
function findRefusal(
  { token }: TokenAccess,
  call: string,
  permission = 'whatsapp_business_management',
): SimulatedResponse | undefined {
  const code = token.refuses?.[call]
  if (code !== undefined) return failOnboarding(code)
  return token.scopes.includes(permission) ? undefined : failOnboarding(200)
}
