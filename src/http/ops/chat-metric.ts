import { Counter, type Registry } from 'prom-client'
import type { PostOutcome } from '../../webhooks/alerts/chat/poster.ts'

/** Registers a counter of posts to chats; returns the function that counts. */
export function registerChatMetric(registry: Registry): (outcome: PostOutcome) => void {
  const posts = new Counter({
    name: 'waybill_chat_posts_total',
    help: 'Attempts to post an alert to a chat, by outcome: posted, failed (it is retried), rejected or expired (it was dropped).',
    labelNames: ['outcome'],
    registers: [registry],
  })
  return (outcome) => posts.inc({ outcome })
}
