import type { ReadOutcome } from './read-outcome.ts'

/** A phone number as described by the Graph API. */
export interface PhoneNumberInfo {
  displayPhoneNumber?: string
  verifiedName?: string
  status?: string
  qualityRating?: string
  throughput?: string
}

/** An access token as `debug_token` describes it (reference 2, section 5.1). */
export interface TokenInfo {
  valid: boolean
  /** WhatsApp's reason why it is not valid. */
  reason?: string
  appId?: string
  appName?: string
  /** Undefined if WhatsApp did not say it. */
  expiresAt?: Date | 'never'
  scopes: string[]
  /** The WhatsApp Business Accounts to which it is restricted; undefined if it is not restricted. */
  wabaIds?: string[]
}

interface BusinessAccount {
  wabaId: string
  name?: string
}

/** A phone number with everything that concerns its ability to send (reference 2, sections 5.2 and 5.5). */
export interface NumberDetails extends PhoneNumberInfo {
  phoneNumberId: string
  nameStatus?: string
  codeVerificationStatus?: string
  /** The business portfolio that owns it. */
  portfolioId?: string
  messagingLimit?: string
  /** Whether it is also used in the WhatsApp Business app, which has registered it; undefined if WhatsApp does not say. */
  onBusinessApp?: boolean
  /** The callback URL of the number or its WABA, which replaces that of the app for the field `messages`. */
  callbackOverride?: string
  health?: HealthEntity[]
}

/** One entity of `health_status`: the number, its WABA, its business portfolio, or the app. */
export interface HealthEntity {
  /** `PHONE_NUMBER`, `WABA`, `BUSINESS` or `APP`. */
  entity: string
  /** `AVAILABLE`, `LIMITED` or `BLOCKED`. */
  canSend: string
  reasons: { description: string; solution?: string; code?: number }[]
}

/** Whether a WABA sends marketing templates by their own endpoint, and can pay for them (autumn reference, section 1.2). */
export interface MarketingAccess {
  /** `ONBOARDED`, or why it is not; undefined if WhatsApp does not say. */
  onboardingStatus: string | undefined
  /** Whether `/messages` rejects marketing templates; undefined if WhatsApp does not say. */
  isOffCloudApi: boolean | undefined
  /**
   * Null if WhatsApp does not say, undefined if it could not be asked. Without a payment method, it may not deliver messages
   * that it charges for (section 3.2).
   */
  hasPaymentMethod: boolean | null | undefined
}

/** The callback URL of an app and the fields that are sent to it. */
export interface AppSubscription {
  callbackUrl: string
  fields: string[]
  active: boolean
}

/** An app that receives the callbacks of a WABA. */
export interface SubscribedApp {
  appId: string
  /** Replaces the callback URL of the app for the field `messages` of the WABA. */
  overrideCallbackUrl?: string
}

/** A Meta app, whose credentials app-level requests use. */
export interface MetaApp {
  appId: string
  appSecret: string
}

/** The WABA of a request, and the access token for it. */
interface WabaAccess {
  wabaId: string
  accessToken: string
}

/** The Graph API requests that set up a number and check it. Each can be repeated. */
export interface Onboarding {
  /** Without an app, the token itself authorizes the request, which fails if it has expired. */
  inspectToken(token: { accessToken: string; app?: MetaApp | undefined }): Promise<ReadOutcome<TokenInfo>>
  /**
   * Requests a token that expires in 60 days. The given token must not have expired, and stays valid until it expires
   * (https://developers.facebook.com/docs/marketing-api/system-users/install-apps-and-generate-tokens).
   */
  refreshToken(token: { accessToken: string; app: MetaApp }): Promise<ReadOutcome<{ accessToken: string }>>
  /** Lists the accounts `wabaIds`, or all accounts of the businesses that the token may use. */
  listBusinessAccounts(token: {
    accessToken: string
    wabaIds?: string[] | undefined
  }): Promise<ReadOutcome<BusinessAccount[]>>
  listPhoneNumbers(waba: WabaAccess): Promise<ReadOutcome<NumberDetails[]>>
  getNumberDetails(number: { phoneNumberId: string; accessToken: string }): Promise<ReadOutcome<NumberDetails>>
  /** Undefined if WhatsApp does not say. */
  isOnBusinessApp(number: { phoneNumberId: string; accessToken: string }): Promise<ReadOutcome<boolean | undefined>>
  getMarketingAccess(waba: WabaAccess): Promise<ReadOutcome<MarketingAccess>>
  /**
   * Sets the two-step verification PIN if the number has none; otherwise the PIN must match. Must not be called for a
   * number that is also used in the WhatsApp Business app: it would disconnect the app on the phone.
   */
  registerNumber(number: { phoneNumberId: string; accessToken: string; pin: string }): Promise<ReadOutcome<void>>
  listSubscribedApps(waba: WabaAccess): Promise<ReadOutcome<SubscribedApp[]>>
  /** Subscribes the token's app to the callbacks of the WABA. */
  subscribeApp(waba: WabaAccess): Promise<ReadOutcome<void>>
  /** Undefined if the app has no callback URL for WhatsApp. */
  getAppSubscription(app: MetaApp): Promise<ReadOutcome<AppSubscription | undefined>>
  /**
   * Sets the app's callback URL, and returns the fields that it is subscribed to. WhatsApp performs the handshake with the
   * URL before it responds.
   */
  subscribeCallback(app: MetaApp, callback: { url: string; verifyToken: string }): Promise<ReadOutcome<string[]>>
}
