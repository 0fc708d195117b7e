import { defineFacts } from './fact.ts'

/** What the templates of the gallery are for, by their names. */
export const galleryFacts = defineFacts('gallery', {
  order_confirmed: { title: 'Order confirmed', description: 'Thank a customer for an order, with a link to it.' },
  order_shipped: { title: 'Order shipped', description: 'Announce that an order has shipped, with a tracking link.' },
  ready_for_pickup: {
    title: 'Ready for pickup',
    description: 'Say that an order can be picked up, and until when.',
  },
  delivery_failed: { title: 'Delivery failed', description: 'Report a failed delivery and offer another day.' },
  appointment_reminder: {
    title: 'Appointment reminder',
    description: 'Remind a customer of an appointment, with replies to confirm or reschedule.',
  },
  invoice_available: {
    title: 'Invoice available',
    description: 'Send the link to an invoice, with its amount and due date.',
  },
  payment_failed: { title: 'Payment failed', description: 'Report a failed payment, with a link to pay again.' },
  password_reset: { title: 'Password reset', description: 'Send a link to reset a password.' },
  login_code: {
    title: 'One-time code',
    description: 'Send a sign-in code with a button that copies it. WhatsApp provides the text.',
  },
})
