import { Counter, type Registry } from 'prom-client'
import type { EmailOutcome } from '../../platform/email/mailer.ts'

/** Registers a counter of emails; returns the function that counts. */
export function registerEmailMetric(registry: Registry): (outcome: EmailOutcome) => void {
  const emails = new Counter({
    name: 'waybill_emails_total',
    help: 'Attempts to send an email, by outcome: sent, failed (it is retried), or rejected, expired or unreadable (it was dropped).',
    labelNames: ['outcome'],
    registers: [registry],
  })
  return (outcome) => emails.inc({ outcome })
}
