import type { MarketingState, SimulatedBusinessAccount } from '../state.ts'
import type { OnboardingErrorCode } from '../errors.ts'

/** An access token of the simulator with which a user can connect a number or try out a failure. */
export interface SandboxToken {
  token: string
  /** The outcome in one sentence, for the guide. */
  does: string
  /** Seconds until it expires; negative if it has expired. Undefined if it never does. */
  expiresInSeconds?: number
  scopes?: readonly string[]
  /** True if it belongs to an app whose secret Waybill does not know. */
  ofOtherApp?: true
  /** True if it belongs to an app whose callback URL Meta cannot reach. */
  ofUnreachableApp?: true
  /** True if no business account is assigned to it. */
  withoutAccounts?: true
  /** The number of its business account; by default one that is not registered and has no PIN. */
  number?: {
    status?: string
    pin?: string
    nameStatus?: string
    blocked?: true
    onBusinessApp?: true
    /** Enforced, unlike that of other numbers. */
    messagingLimit?: string
  }
  payment?: SimulatedBusinessAccount['payment']
  refuses?: Partial<Record<string, OnboardingErrorCode>>
  /** By default, its business account is onboarded to the Marketing Messages API. */
  marketing?: MarketingState
}

const management = 'whatsapp_business_management'
const messaging = 'whatsapp_business_messaging'
const day = 86_400

export const sandboxTokens: readonly SandboxToken[] = [
  { token: 'sandbox-token', does: 'Everything works. The number is not registered yet, and has no PIN: choose one' },
  {
    token: 'sandbox-token-registered',
    does: 'Everything works, and the number is registered already',
    number: { status: 'CONNECTED', pin: '123456' },
  },
  { token: 'sandbox-token-expired', does: 'The token has expired (190)', expiresInSeconds: -3600 },
  {
    token: 'sandbox-token-expiring',
    does: 'Works, but expires in 5 days, and a refresh is rejected (200)',
    expiresInSeconds: 5 * day,
    number: { status: 'CONNECTED' },
    refuses: { 'GET oauth': 200 },
  },
  {
    token: 'sandbox-token-no-messaging',
    does: 'The token lacks whatsapp_business_messaging',
    scopes: [management],
    number: { status: 'CONNECTED' },
  },
  { token: 'sandbox-token-no-management', does: 'The token lacks whatsapp_business_management', scopes: [messaging] },
  {
    token: 'sandbox-token-no-accounts',
    does: 'The token has both permissions, but no business account is assigned to it',
    withoutAccounts: true,
  },
  {
    token: 'sandbox-token-other-app',
    does: 'The token belongs to another app, whose secret Waybill does not know: no callback can be verified',
    ofOtherApp: true,
    number: { status: 'CONNECTED' },
  },
  {
    token: 'sandbox-token-pin',
    does: 'The number has the PIN 123456; another one is rejected (133005), after three of them the number is locked (133008)',
    number: { pin: '123456' },
  },
  {
    token: 'sandbox-token-pin-locked',
    does: 'Registration is rejected: too many wrong PINs (133008)',
    refuses: { 'POST register': 133008 },
  },
  {
    token: 'sandbox-token-register-limit',
    does: 'Registration is rejected: more than 10 attempts in 72 hours (133016)',
    refuses: { 'POST register': 133016 },
  },
  {
    token: 'sandbox-token-subscribe-refused',
    does: 'The subscription of the app is rejected (200)',
    number: { status: 'CONNECTED' },
    refuses: { 'POST subscribed_apps': 200 },
  },
  {
    token: 'sandbox-token-throttled',
    does: 'The business account has reached its rate limit of management calls (80007)',
    refuses: { 'GET phone_numbers': 80007 },
  },
  {
    token: 'sandbox-token-throttled-later',
    does: 'The number can be connected; then the rate limit is reached: subscription and registration are rejected (80007)',
    refuses: { 'POST subscribed_apps': 80007, 'POST register': 80007 },
  },
  {
    token: 'sandbox-token-callback-unreachable',
    does: 'Meta does not reach the callback URL, so it cannot be set (2200)',
    ofUnreachableApp: true,
    number: { status: 'CONNECTED' },
  },
  {
    token: 'sandbox-token-blocked',
    does: 'The number is connected, but WhatsApp reports that it cannot send because of a payment problem (141006)',
    number: { status: 'CONNECTED', blocked: true },
  },
  {
    token: 'sandbox-token-name-declined',
    does: 'The number is connected, but its display name was declined',
    number: { status: 'CONNECTED', nameStatus: 'DECLINED' },
  },
  {
    token: 'sandbox-token-refreshed',
    does: 'Works, and expires in 5 days, but Waybill refreshes it within a minute',
    expiresInSeconds: 5 * day,
    number: { status: 'CONNECTED' },
  },
  {
    token: 'sandbox-token-marketing-eligible',
    does: 'Works, but the terms of the Marketing Messages API are not accepted: marketing templates go through the Cloud API',
    number: { status: 'CONNECTED' },
    marketing: { onboardingStatus: 'ELIGIBLE', offCloudApi: false },
  },
  {
    token: 'sandbox-token-marketing-payment',
    does: 'Works, but the onboarding to the Marketing Messages API waits for a payment method',
    number: { status: 'CONNECTED' },
    marketing: { onboardingStatus: 'PENDING_VALID_PAYMENT_METHOD', offCloudApi: false },
  },
  {
    token: 'sandbox-token-marketing-ineligible',
    does: 'Works, but the country of the business account has no Marketing Messages API',
    number: { status: 'CONNECTED' },
    marketing: { onboardingStatus: 'INELIGIBLE_COUNTRY_NOT_SUPPORTED', offCloudApi: false },
  },
  {
    token: 'sandbox-token-marketing-rejected',
    does: 'Marketing templates are rejected on both endpoints (131063): switched off on the Cloud API, and not onboarded',
    number: { status: 'CONNECTED' },
    marketing: { onboardingStatus: 'ELIGIBLE', offCloudApi: true },
  },
  {
    token: 'sandbox-token-business-app',
    does: 'Works. The number is also used in the WhatsApp Business app, so it is not registered',
    number: { status: 'CONNECTED', onBusinessApp: true },
  },
  {
    token: 'sandbox-token-no-payment',
    does: 'Works, but the business account has no payment method',
    number: { status: 'CONNECTED' },
    payment: 'missing',
  },
  {
    token: 'sandbox-token-limit',
    does: 'Works, with a messaging limit of 2 people in 24 hours: messages to others are accepted, then fail (131048)',
    number: { status: 'CONNECTED', messagingLimit: 'TIER_2' },
  },
]
