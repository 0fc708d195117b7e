import type { z } from 'zod'
import type {
  AppSubscription,
  HealthEntity,
  MarketingAccess,
  MetaApp,
  NumberDetails,
  Onboarding,
  PhoneNumberInfo,
  SubscribedApp,
  TokenInfo,
} from '../onboarding.ts'
import { optionalCallbackField, requiredCallbackFields } from '../callbacks/subscription.ts'
import { readEach, type ReadOutcome } from '../read-outcome.ts'
import { toDate } from '../wire-values.ts'
import type { Exchange } from './exchange.ts'
import { parseResponse, readPages } from './read.ts'
import { hideSecrets } from './refusal.ts'
import {
  AppSubscriptionNode,
  AppUseNode,
  BusinessAccountNode,
  DebuggedToken,
  IssuedToken,
  type HealthStatus,
  MarketingNode,
  NumberNode,
  SubscribedAppNode,
  Success,
} from './onboarding-wire.ts'
import { Page } from './wire.ts'

/** Sends one request. `path` has no leading slash and no version. */
export type GraphCall = (
  method: 'GET' | 'POST' | 'DELETE',
  path: string,
  accessToken: string,
  body?: Record<string, unknown>,
) => Promise<Exchange>

/** Fields, and those that an older version of the Graph API or a provider may not have. */
interface VersionedFields {
  fields: string
  newest: readonly string[]
}

/** The limit is for v24.0 and newer (reference 2, section 5.2). */
const numberFields: VersionedFields = {
  fields:
    'id,display_phone_number,verified_name,status,quality_rating,throughput,name_status,code_verification_status,health_status',
  newest: ['whatsapp_business_manager_messaging_limit', 'webhook_configuration'],
}

/** Autumn reference, section 5.1. Read apart, because a request that names an unknown field fails (100). */
const appUseFields: VersionedFields = { fields: 'id,is_on_biz_app', newest: ['platform_type'] }

/** WhatsApp may not offer the optional field to an app. */
const subscriptionFields: VersionedFields = {
  fields: requiredCallbackFields.join(','),
  newest: [optionalCallbackField],
}

const marketingFields = 'id,marketing_messages_onboarding_status,disable_marketing_messages_on_cloud_api'

export function createOnboarding(call: GraphCall): Onboarding {
  const get = async <T>(path: string, accessToken: string, schema: z.ZodType<T>) =>
    parseResponse(await call('GET', path, accessToken), schema, accessToken)

  const post = async (path: string, accessToken: string, body: Record<string, unknown>): Promise<ReadOutcome<void>> =>
    mapOutcome(parseResponse(await call('POST', path, accessToken, body), Success, accessToken), () => undefined)

  /** Reads a list of any length. */
  const list = async <T>(path: string, accessToken: string, fields: string, schema: z.ZodType<T>) => {
    const items = await readPages((query) => get(`${path}?${query}`, accessToken, Page), { fields, of: path })
    return mapOutcome(items, (found) => parseItems(found, schema))
  }

  /** Reads a short list, whose items have no documented fields to request, as a single page. */
  const listOnePage = async <T>(path: string, accessToken: string, schema: z.ZodType<T>) =>
    mapOutcome(await get(path, accessToken, Page), ({ data }) => parseItems(data, schema))

  async function readAppUse({ phoneNumberId, accessToken }: { phoneNumberId: string; accessToken: string }) {
    const read = (fields: string) =>
      get(`${encodeURIComponent(phoneNumberId)}?fields=${fields}`, accessToken, AppUseNode)
    return mapOutcome(await readKnown(appUseFields, read), isOnBusinessApp)
  }

  async function listAllBusinessAccounts(accessToken: string) {
    const businesses = await list('me/businesses', accessToken, 'id,name', BusinessAccountNode)
    if (!businesses.ok) return businesses
    const edges = businesses.value
      .slice(0, maxAccounts)
      .flatMap(({ id }) => accountEdges.map((edge) => `${encodeURIComponent(id)}/${edge}`))
    const found = new Map<string, { wabaId: string; name?: string }>()
    const readEdge = async (edge: string): Promise<ReadOutcome<number>> => {
      if (found.size >= maxAccounts) return { ok: true, value: 0 }
      const accounts = await list(edge, accessToken, 'id,name', BusinessAccountNode)
      if (accounts.ok) for (const account of accounts.value) found.set(account.id, toBusinessAccount(account))
      return mapOutcome(accounts, ({ length }) => length)
    }
    const lists = await readEach(edges, readEdge, (count) => count > 0)
    return mapOutcome(lists, () => [...found.values()].slice(0, maxAccounts))
  }

  return {
    inspectToken: async ({ accessToken, app }) => {
      const query = new URLSearchParams({ input_token: accessToken })
      const requestToken = app ? appToken(app) : accessToken
      const response = await call('GET', `debug_token?${query.toString()}`, requestToken)
      const inspected = mapOutcome(parseResponse(response, DebuggedToken, accessToken), toTokenInfo)
      return redact(
        mapOutcome(inspected, (token) => hideToken(token, accessToken)),
        requestToken,
      )
    },
    refreshToken: async ({ accessToken, app }) => {
      const query = new URLSearchParams({
        grant_type: 'fb_exchange_token',
        client_id: app.appId,
        client_secret: app.appSecret,
        set_token_expires_in_60_days: 'true',
        fb_exchange_token: accessToken,
      })
      const response = await call('GET', `oauth/access_token?${query.toString()}`, accessToken)
      const issued = mapOutcome(parseResponse(response, IssuedToken, accessToken), ({ access_token }) => ({
        accessToken: access_token,
      }))
      return redact(issued, app.appSecret)
    },
    listBusinessAccounts: async ({ accessToken, wabaIds }) => {
      if (!wabaIds) return listAllBusinessAccounts(accessToken)
      return readEach(wabaIds.slice(0, maxAccounts), async (wabaId) =>
        mapOutcome(
          await get(`${encodeURIComponent(wabaId)}?fields=id,name`, accessToken, BusinessAccountNode),
          toBusinessAccount,
        ),
      )
    },
    listPhoneNumbers: async ({ wabaId, accessToken }) => {
      const path = `${encodeURIComponent(wabaId)}/phone_numbers`
      const numbers = await readKnown(numberFields, (fields) => list(path, accessToken, fields, NumberNode))
      if (!numbers.ok || numbers.value.length === 0) return mapOutcome(numbers, () => [])
      const uses = await readKnown(appUseFields, (fields) => list(path, accessToken, fields, AppUseNode))
      const useOf = new Map(uses.ok ? uses.value.map((use) => [use.id, isOnBusinessApp(use)]) : [])
      return {
        ok: true,
        value: numbers.value.map((number) => withAppUse(toNumberDetails(number), useOf.get(number.id))),
      }
    },
    getNumberDetails: async ({ phoneNumberId, accessToken }) => {
      const read = (fields: string) =>
        get(`${encodeURIComponent(phoneNumberId)}?fields=${fields}`, accessToken, NumberNode)
      const [number, use] = await Promise.all([
        readKnown(numberFields, read),
        readAppUse({ phoneNumberId, accessToken }),
      ])
      return mapOutcome(number, (node) => withAppUse(toNumberDetails(node), use.ok ? use.value : undefined))
    },
    isOnBusinessApp: readAppUse,
    getMarketingAccess: async ({ wabaId, accessToken }) => {
      const read = (fields: string) => get(`${encodeURIComponent(wabaId)}?fields=${fields}`, accessToken, MarketingNode)
      // Apart, because WhatsApp rejects a request that names a field which this app may not read.
      const [marketing, payment] = await Promise.all([read(marketingFields), read('id,primary_funding_id')])
      return mapOutcome(marketing, ({ marketing_messages_onboarding_status: status, ...node }) => ({
        onboardingStatus: status,
        isOffCloudApi: node.disable_marketing_messages_on_cloud_api,
        hasPaymentMethod: readPaymentMethod(payment, status !== undefined),
      }))
    },
    registerNumber: ({ phoneNumberId, accessToken, pin }) =>
      post(`${encodeURIComponent(phoneNumberId)}/register`, accessToken, { messaging_product: 'whatsapp', pin }),
    listSubscribedApps: async ({ wabaId, accessToken }) =>
      mapOutcome(
        await listOnePage(`${encodeURIComponent(wabaId)}/subscribed_apps`, accessToken, SubscribedAppNode),
        (apps) => apps.map(toSubscribedApp),
      ),
    subscribeApp: ({ wabaId, accessToken }) => post(`${encodeURIComponent(wabaId)}/subscribed_apps`, accessToken, {}),
    getAppSubscription: async (app) =>
      mapOutcome(
        await listOnePage(`${encodeURIComponent(app.appId)}/subscriptions`, appToken(app), AppSubscriptionNode),
        (subscriptions) => toAppSubscription(subscriptions.find(({ object }) => object === subscriptionObject)),
      ),
    subscribeCallback: (app, { url, verifyToken }) =>
      readKnown(subscriptionFields, async (fields) => {
        const subscribed = await post(`${encodeURIComponent(app.appId)}/subscriptions`, appToken(app), {
          object: subscriptionObject,
          callback_url: url,
          verify_token: verifyToken,
          fields,
        })
        return mapOutcome(subscribed, () => fields.split(','))
      }),
  }
}

const subscriptionObject = 'whatsapp_business_account'
/** Of a business portfolio: its own WABAs, and those of others that it may use. */
const accountEdges = ['owned_whatsapp_business_accounts', 'client_whatsapp_business_accounts']
/** A partner's token can reach many businesses and accounts, and each takes one or two requests. */
const maxAccounts = 25

/** Graph accepts this form instead of an app token that was issued (reference 2, section 5.1). */
function appToken({ appId, appSecret }: MetaApp): string {
  return `${appId}|${appSecret}`
}

/** An item that cannot be parsed is left out, so that it does not hide the others. */
function parseItems<T>(items: unknown[], schema: z.ZodType<T>): T[] {
  return items.flatMap((item) => {
    const parsed = schema.safeParse(item)
    return parsed.success ? [parsed.data] : []
  })
}

/** An error can quote the token that authorized the request, as well as the one that the request is about. */
function redact<T>(outcome: ReadOutcome<T>, secret: string): ReadOutcome<T> {
  if (outcome.ok || !outcome.error) return outcome
  const { title, details, ...error } = outcome.error
  const clean = (text: string) => hideSecrets(text, [secret])
  return {
    ...outcome,
    error: { ...error, title: clean(title), ...(details !== undefined && { details: clean(details) }) },
  }
}

/** The reason can quote the token that it is about. */
function hideToken({ reason, ...token }: TokenInfo, accessToken: string): TokenInfo {
  return { ...token, ...(reason !== undefined && { reason: hideSecrets(reason, [accessToken]) }) }
}

/**
 * Meta's page of the account model says that a business account without the field has no payment method; the credit line of
 * a partner counts as one. Integrators report that only apps of solution partners may read it (code 10). A provider whose
 * API resembles WhatsApp's names neither this field nor the others.
 */
function readPaymentMethod(
  payment: ReadOutcome<z.infer<typeof MarketingNode>>,
  isMeta: boolean,
): MarketingAccess['hasPaymentMethod'] {
  if (!payment.ok) return payment.refused && payment.transient !== true ? null : undefined
  return payment.value.primary_funding_id !== undefined || (isMeta ? false : null)
}

function mapOutcome<T, U>(outcome: ReadOutcome<T>, map: (value: T) => U): ReadOutcome<U> {
  return outcome.ok ? { ok: true, value: map(outcome.value) } : outcome
}

function toTokenInfo({ data }: z.infer<typeof DebuggedToken>): TokenInfo {
  const wabaIds = data.granular_scopes?.find(({ scope }) => scope === 'whatsapp_business_management')?.target_ids
  const expiresAt = toExpiry(data.expires_at)
  return {
    valid: data.is_valid,
    scopes: data.scopes ?? [],
    ...(data.error?.message !== undefined && { reason: data.error.message }),
    ...(data.app_id !== undefined && { appId: data.app_id }),
    ...(data.application !== undefined && { appName: data.application }),
    ...(expiresAt !== undefined && { expiresAt }),
    ...(wabaIds && { wabaIds }),
  }
}

/** Only 0 means that a token never expires; null and other values say nothing. */
function toExpiry(seconds: number | undefined): TokenInfo['expiresAt'] {
  if (seconds === 0) return 'never'
  return seconds === undefined ? undefined : toDate(seconds)
}

/** Leaves out the newest fields, one after another, until WhatsApp knows the others (100). */
async function readKnown<T>(
  { fields, newest }: VersionedFields,
  read: (fields: string) => Promise<ReadOutcome<T>>,
): Promise<ReadOutcome<T>> {
  const outcome = await read([fields, ...newest].join(','))
  if (outcome.ok || outcome.error?.code !== 100 || newest.length === 0) return outcome
  return readKnown({ fields, newest: newest.slice(1) }, read)
}

/** A number on another platform is in the app only. */
function isOnBusinessApp({
  is_on_biz_app: isOnApp,
  platform_type: platform = 'CLOUD_API',
}: z.infer<typeof AppUseNode>) {
  return isOnApp && platform === 'CLOUD_API'
}

function withAppUse(number: NumberDetails, onBusinessApp: boolean | undefined): NumberDetails {
  return { ...number, ...(onBusinessApp !== undefined && { onBusinessApp }) }
}

function toBusinessAccount({ id, name }: z.infer<typeof BusinessAccountNode>) {
  return { wabaId: id, ...(name !== undefined && { name }) }
}

function toNumberDetails(node: z.infer<typeof NumberNode>): NumberDetails {
  const { phone_number: ofNumber = '', whatsapp_business_account: ofWaba = '' } = node.webhook_configuration ?? {}
  // An override that was removed can be an empty text.
  const callbackOverride = ofNumber || ofWaba
  return {
    phoneNumberId: node.id,
    ...toPhoneNumberInfo(node),
    ...(node.name_status !== undefined && { nameStatus: node.name_status }),
    ...(node.code_verification_status !== undefined && { codeVerificationStatus: node.code_verification_status }),
    ...(node.whatsapp_business_manager_messaging_limit !== undefined && {
      messagingLimit: node.whatsapp_business_manager_messaging_limit,
    }),
    ...(callbackOverride !== '' && { callbackOverride }),
    ...readPortfolio(node.health_status),
    ...(node.health_status && { health: node.health_status.entities.map(toHealthEntity) }),
  }
}

export function toPhoneNumberInfo(node: Omit<z.infer<typeof NumberNode>, 'id'>): PhoneNumberInfo {
  const { display_phone_number, verified_name, status, quality_rating, throughput } = node
  return {
    ...(display_phone_number === undefined ? {} : { displayPhoneNumber: display_phone_number }),
    ...(verified_name === undefined ? {} : { verifiedName: verified_name }),
    ...(status === undefined ? {} : { status }),
    ...(quality_rating === undefined ? {} : { qualityRating: quality_rating }),
    ...(throughput?.level === undefined ? {} : { throughput: throughput.level }),
  }
}

function readPortfolio(health: HealthStatus | undefined): { portfolioId?: string } {
  const portfolio = health?.entities.find(({ entity_type }) => entity_type === 'BUSINESS')
  return portfolio?.id === undefined ? {} : { portfolioId: portfolio.id }
}

/** Only `can_send_message` counts: the overall value may include calls (reference 2, section 5.5). */
function toHealthEntity(entity: HealthStatus['entities'][number]): HealthEntity {
  const errors = (entity.errors ?? []).map(({ error_code, error_description, possible_solution }) => ({
    description: error_description,
    ...(possible_solution !== undefined && { solution: possible_solution }),
    ...(error_code !== undefined && { code: error_code }),
  }))
  const notes = (entity.additional_info ?? []).map((description) => ({ description }))
  return { entity: entity.entity_type, canSend: entity.can_send_message, reasons: [...errors, ...notes] }
}

function toSubscribedApp(node: z.infer<typeof SubscribedAppNode>): SubscribedApp {
  const { whatsapp_business_api_data: app, override_callback_uri: overrideCallbackUrl = '' } = node
  return { appId: app.id, ...(overrideCallbackUrl !== '' && { overrideCallbackUrl }) }
}

function toAppSubscription(node: z.infer<typeof AppSubscriptionNode> | undefined): AppSubscription | undefined {
  if (node?.callback_url === undefined) return undefined
  const fields = (node.fields ?? []).map((field) => (typeof field === 'string' ? field : field.name))
  return { callbackUrl: node.callback_url, fields, active: node.active ?? true }
}
