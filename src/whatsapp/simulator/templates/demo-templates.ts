import type { StoredComponent } from '../../../platform/db/schema.ts'
import type { NewTemplate } from './template-list.ts'

const footer: StoredComponent = { type: 'FOOTER', text: 'Waybill Demo Shop' }

function body(text: string, ...examples: string[]): StoredComponent {
  return { type: 'BODY', text, ...(examples.length === 0 ? {} : { example: { body_text: [examples] } }) }
}

/** The templates of the demo account: one of each kind. */
export const demoTemplates: readonly NewTemplate[] = [
  {
    name: 'order_shipped',
    language: 'en',
    components: [body('Hello {{1}}, your order {{2}} is on its way.', 'Ada', 'A-1024'), footer],
  },
  {
    name: 'order_shipped',
    language: 'es',
    components: [body('Hola {{1}}, tu pedido {{2}} está en camino.', 'Ada', 'A-1024'), footer],
  },
  {
    name: 'hello_world',
    language: 'en_US',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Hello World' },
      body('Welcome and congratulations! This message demonstrates your ability to send a template message.'),
      footer,
    ],
  },
  {
    name: 'appointment_reminder',
    parameter_format: 'NAMED',
    components: [
      {
        type: 'BODY',
        text: 'Hello {{first_name}}, we expect you on {{date}} at {{time}}, as agreed.',
        example: {
          body_text_named_params: [
            { param_name: 'first_name', example: 'Ada' },
            { param_name: 'date', example: '12 May' },
            { param_name: 'time', example: '10:30' },
          ],
        },
      },
      footer,
    ],
  },
  {
    name: 'delivery_feedback',
    components: [
      body('Hello {{1}}, did your parcel arrive in good order?', 'Ada'),
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Yes' },
          { type: 'QUICK_REPLY', text: 'No' },
        ],
      },
    ],
  },
  {
    name: 'spring_sale',
    category: 'MARKETING',
    status: 'PAUSED',
    quality_score: { score: 'RED', date: 1_758_754_645 },
    components: [body('Hello {{1}}, our spring sale has begun.', 'Ada'), footer],
  },
  {
    name: 'loyalty_points',
    category: 'MARKETING',
    status: 'PENDING',
    quality_score: { score: 'UNKNOWN', date: 1_758_754_645 },
    components: [body('Hello {{1}}, you have {{2}} points to spend.', 'Ada', '120'), footer],
  },
  {
    name: 'invoice_ready',
    components: [
      { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['https://example.com/invoice.png'] } },
      body('Hello {{1}}, your invoice is ready.', 'Ada'),
    ],
  },
  {
    name: 'order_delayed',
    components: [
      { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}', example: { header_text: ['A-1024'] } },
      body('Hello {{1}}, your order will take a day longer.', 'Ada'),
    ],
  },
  {
    name: 'track_parcel',
    components: [
      body('Hello {{1}}, follow your parcel on our page.', 'Ada'),
      {
        type: 'BUTTONS',
        buttons: [{ type: 'URL', text: 'Track', url: 'https://example.com/track/{{1}}', example: ['A-1024'] }],
      },
    ],
  },
  {
    name: 'login_code',
    category: 'AUTHENTICATION',
    components: [
      { ...body('*{{1}}* is your verification code.', '123456'), add_security_recommendation: false },
      {
        type: 'BUTTONS',
        buttons: [
          {
            type: 'URL',
            text: 'Copy code',
            url: 'https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp{{1}}',
            example: ['https://www.whatsapp.com/otp/code/?otp_type=COPY_CODE&code=otp123456'],
          },
        ],
      },
    ],
  },
  {
    name: 'invoice',
    components: [
      { type: 'HEADER', format: 'DOCUMENT', example: { header_handle: ['https://example.com/invoice.pdf'] } },
      body('Hello {{1}}, your invoice is attached.', 'Ada'),
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'I have paid' },
          { type: 'URL', text: 'Pay now', url: 'https://example.com/pay/{{1}}', example: ['B-7'] },
        ],
      },
    ],
  },
  {
    name: 'pick_up_point',
    components: [{ type: 'HEADER', format: 'LOCATION' }, body('Hello {{1}}, your parcel waits for you here.', 'Ada')],
  },
  {
    name: 'birthday_coupon',
    category: 'MARKETING',
    components: [
      body('Happy birthday, {{1}}! Here is a gift for you.', 'Ada'),
      { type: 'BUTTONS', buttons: [{ type: 'COPY_CODE', text: 'Copy offer code', example: ['GIFT9'] }] },
    ],
  },
  {
    name: 'weekend_offer',
    category: 'MARKETING',
    components: [
      { type: 'HEADER', format: 'IMAGE', example: { header_handle: ['https://example.com/offer.png'] } },
      { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Expiring offer!', has_expiration: true } },
      body('Hello {{1}}, everything is cheaper this weekend.', 'Ada'),
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'COPY_CODE', text: 'Copy offer code', example: ['WEEKEND'] },
          { type: 'URL', text: 'Shop now', url: 'https://example.com/shop?code={{1}}', example: ['WEEKEND'] },
        ],
      },
    ],
  },
  {
    name: 'new_plants',
    category: 'MARKETING',
    components: [
      body('Hello {{1}}, new plants are here.', 'Ada'),
      { type: 'CAROUSEL', cards: [plantCard('Aloe vera', 'aloe'), plantCard('Monstera', 'monstera')] },
    ],
  },
]

function plantCard(name: string, page: string): { components: StoredComponent[] } {
  return {
    components: [
      { type: 'HEADER', format: 'IMAGE', example: { header_handle: [`https://example.com/${page}.png`] } },
      body(`${name} for {{1}} only.`, 'EUR 9.90'),
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'More like this' },
          { type: 'URL', text: 'Buy', url: 'https://example.com/plants/{{1}}', example: [page] },
        ],
      },
    ],
  }
}
