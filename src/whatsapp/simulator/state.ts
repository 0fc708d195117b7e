import type { BusinessProfile } from './onboarding/business-profile.ts'
import type { OnboardingErrorCode } from './errors.ts'
import type { TemplateReviewer } from './templates/template-review.ts'
import type { GraphTemplate, TemplateList } from './templates/template-list.ts'
import type { Plan, PlannedAction } from './messages/plans.ts'
import type { SimulatedUser } from './messages/users.ts'

export interface SimulatedNumber {
  phoneNumberId: string
  wabaId: string
  accessToken: string
  displayPhoneNumber: string
  verifiedName: string
  /** Prepended to a `to` without a plus sign. */
  callingCode: string
  /** Only CONNECTED numbers can send (reference, section 5); a number that is not registered is PENDING. */
  status: string
  qualityRating: string
  nameStatus: string
  codeVerificationStatus: string
  throughputLevel: string
  messagingLimit: string
  /** The two-step verification PIN; the first registration sets it (reference 2, section 5.3). */
  pin?: string
  /** Why the number cannot send, as `health_status` reports it. */
  blockedBy?: { error_code: number; error_description: string; possible_solution: string }
  /** True if it is also used in the WhatsApp Business app. Registering it disconnects the app. */
  onBusinessApp?: boolean
  /** What recipients see of the business. */
  profile?: BusinessProfile
  /** True if people beyond the messaging limit get nothing. */
  enforcesLimit?: boolean
  registrations: number
  wrongPins: number
}

/** A simulated Meta app and its callback subscription. */
export interface SimulatedApp {
  id: string
  name: string
  secret: string
  /** True if Meta cannot reach any callback URL of this app. */
  unreachable?: true
  subscription?: { callbackUrl: string; fields: string[] }
}

/** A simulated access token, as `debug_token` describes it (reference 2, section 5.1). */
export interface SimulatedToken {
  appId: string
  scopes: string[]
  /** Unix seconds; 0 if it never expires. */
  expiresAt: number
  /** WABAs that it may use; by default those of the numbers that have this token. */
  wabaIds?: string[]
  /** Requests such as `POST register` that are refused with a Graph API error code. */
  refuses?: Partial<Record<string, OnboardingErrorCode>>
}

/** Whether a WABA uses the Marketing Messages API (autumn reference, section 1.2). */
export interface MarketingState {
  onboardingStatus: string
  /** True if the Cloud API takes no marketing templates, also not as a fallback of the other endpoint. */
  offCloudApi: boolean
}

export interface SimulatedBusinessAccount {
  name: string
  /** Whether it has a payment method. If absent, apps may not read that, as most apps may not at Meta. */
  payment?: 'present' | 'missing'
}

export type FreeReason = 'free_entry_point' | 'paid_exempt'

/** An accepted message, from which its statuses are created. */
export interface AcceptedMessage {
  waMessageId: string
  /** The recipient's digits, or the user ID that the message was sent to. */
  waId: string
  user: SimulatedUser
  from: SimulatedNumber
  template: GraphTemplate
  /** `biz_opaque_callback_data` of the request. */
  callbackData?: string
  messageStatus: 'accepted' | 'held_for_quality_assessment'
  /** Sent by the Marketing Messages API, which its `pricing` shows. */
  isMarketingApi: boolean
  /** Why the message is free of charge. */
  freeBecause?: FreeReason
  /** Whether another app answers the conversation, so that statuses are copies. */
  isStandby: boolean
  /** The statuses that follow. */
  plan: Plan
  /** What the recipient does after that. */
  actions: readonly PlannedAction[]
  /** The values that the send set for each button, by its index. */
  buttonValues: ReadonlyMap<number, { payload: string | undefined; flowToken: string | undefined }>
}

export interface SimulatorState {
  numbers: Map<string, SimulatedNumber>
  /** Templates by WABA ID. */
  templates: Map<string, TemplateList>
  apps: Map<string, SimulatedApp>
  /** Tokens with properties of their own. Every other token of a number belongs to the demo app. */
  tokens: Map<string, SimulatedToken>
  /** By WABA ID. */
  businessAccounts: Map<string, SimulatedBusinessAccount>
  /** How WABAs send marketing templates, by WABA ID; others are onboarded. */
  marketing: Map<string, MarketingState>
  /** When each person was last addressed, by user ID, of each WABA: the simulated WABAs have portfolios of their own. */
  addressed: Map<string, Map<string, number>>
  /** Subscribed apps by WABA ID, with the callback URL that overrides the app's own. */
  subscriptions: Map<string, Map<string, { overrideCallbackUrl?: string }>>
  /** The contact books, by WABA ID: the user IDs of people whose number is known to the business. */
  contacts: Map<string, Set<string>>
  /** Uploaded files by ID. */
  media: Map<string, SimulatedMedia>
  nextMediaId: () => string
  /** Upload sessions by ID. */
  uploads: Map<string, { length: number; type: string }>
  /** Uploaded samples by handle. */
  samples: Map<string, { type: string; bytes: Buffer; url: string }>
  /** WABA, name and language of deleted templates whose names are locked, each on a line. */
  deletedTemplates: Set<string>
  reviewer: TemplateReviewer
  now: () => number
  randomBytes: (size: number) => Uint8Array
  onAccepted: (message: AcceptedMessage) => void
}

/** The metadata of an uploaded file. Its bytes are not kept. */
interface SimulatedMedia {
  id: string
  phoneNumberId: string
  type: string
  size: number
  sha256: string
}
