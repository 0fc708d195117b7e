import type { TemplateButtonDefinition, TemplateDefinition } from './definition.ts'
import { type GalleryLanguage, type GalleryText, galleryTexts } from './gallery-texts.ts'

/** An amount or a date is written as in the language of the template. */
type Example = string | { euros: number } | { dayOfMay: number }

interface GalleryItem {
  name: string
  category: TemplateDefinition['category']
  /** Example values of the body variables, by number. */
  examples?: readonly Example[]
  /** Example value of the header variable. */
  headerExample?: string
  /** The buttons without their labels. */
  buttons?: readonly Omit<TemplateButtonDefinition, 'text'>[]
  authentication?: NonNullable<TemplateDefinition['authentication']>
}

/** The gallery templates, in display order. Their titles are in `contracts/facts/gallery.ts`. */
export const galleryItems = [
  {
    name: 'order_confirmed',
    category: 'UTILITY',
    examples: ['Ada', 'WB-1042', { euros: 42 }],
    buttons: [{ type: 'URL', url: 'https://example.com/orders/{{1}}', example: 'WB-1042' }],
  },
  {
    name: 'order_shipped',
    category: 'UTILITY',
    headerExample: 'WB-1042',
    examples: ['Ada', { dayOfMay: 24 }],
    buttons: [{ type: 'URL', url: 'https://example.com/track/{{1}}', example: 'WB-1042' }],
  },
  {
    name: 'ready_for_pickup',
    category: 'UTILITY',
    examples: ['Ada', 'WB-1042', { dayOfMay: 31 }],
  },
  {
    name: 'delivery_failed',
    category: 'UTILITY',
    examples: ['Ada', 'WB-1042', { dayOfMay: 25 }],
    buttons: [{ type: 'QUICK_REPLY' }, { type: 'QUICK_REPLY' }],
  },
  {
    name: 'appointment_reminder',
    category: 'UTILITY',
    examples: ['Ada', { dayOfMay: 12 }, '10:30'],
    buttons: [{ type: 'QUICK_REPLY' }, { type: 'QUICK_REPLY' }],
  },
  {
    name: 'invoice_available',
    category: 'UTILITY',
    examples: ['Ada', 'B-7', { euros: 42 }, { dayOfMay: 31 }],
    buttons: [{ type: 'URL', url: 'https://example.com/invoices/{{1}}', example: 'B-7' }],
  },
  {
    name: 'payment_failed',
    category: 'UTILITY',
    examples: ['Ada', { euros: 42 }, 'B-7'],
    buttons: [
      { type: 'URL', url: 'https://example.com/pay/{{1}}', example: 'B-7' },
      { type: 'PHONE_NUMBER', phoneNumber: '+34600111222' },
    ],
  },
  {
    name: 'password_reset',
    category: 'UTILITY',
    examples: ['Ada', '30'],
    buttons: [{ type: 'URL', url: 'https://example.com/reset/{{1}}', example: 'k3v9' }],
  },
  {
    name: 'login_code',
    category: 'AUTHENTICATION',
    authentication: { otpType: 'COPY_CODE', addSecurityRecommendation: true, expirationMinutes: 10 },
  },
] as const satisfies readonly GalleryItem[]

export type GalleryName = (typeof galleryItems)[number]['name']

/** Returns a gallery template in a language, to submit unchanged or to adapt. */
export function makeGalleryTemplate(name: GalleryName, language: GalleryLanguage): TemplateDefinition {
  const item: GalleryItem | undefined = galleryItems.find((one) => one.name === name)
  if (!item) throw new Error(`The gallery has no template ${name}`)
  const { category, examples = [], headerExample, buttons, authentication } = item
  if (authentication) return { name, language, category, authentication: { ...authentication } }
  // All templates except one-time codes have texts in each language.
  const text: GalleryText = galleryTexts[name as keyof typeof galleryTexts][language]
  return {
    name,
    language,
    category,
    ...(text.header !== undefined && {
      header: { format: 'TEXT', text: text.header, ...(headerExample !== undefined && { example: headerExample }) },
    }),
    body: {
      text: text.body,
      ...(examples.length > 0 && {
        examples: Object.fromEntries(
          examples.map((example, index) => [String(index + 1), writeExample(example, language)]),
        ),
      }),
    },
    ...(text.footer !== undefined && { footer: text.footer }),
    ...(buttons && { buttons: buttons.map((button, index) => ({ ...button, text: text.labels?.[index] ?? '' })) }),
  }
}

/** `€42.00` or `24 May`; in Spanish `42,00 €` or `24 de mayo`. */
function writeExample(example: Example, language: GalleryLanguage): string {
  if (typeof example === 'string') return example
  // Dates of English templates start with the day, as most of their readers write them.
  const locale = language === 'en' ? 'en-GB' : language.replace('_', '-')
  return 'euros' in example
    ? new Intl.NumberFormat(locale, { style: 'currency', currency: 'EUR' }).format(example.euros)
    : new Intl.DateTimeFormat(locale, { day: 'numeric', month: 'long', timeZone: 'UTC' }).format(
        Date.UTC(2026, 4, example.dayOfMay),
      )
}
