import type { ChatFormat } from '../../../../contracts/dashboard/alert.ts'
import { cut, toLine } from '../../../platform/text.ts'
import type { AlertText } from '../text.ts'

/** Slack's limit for a header. A section may have 3000 characters. */
const maxTitleLength = 150
const maxParagraphLength = 2000

/** Returns the JSON body of an alert in the format of the chat. */
export function formatPost(format: ChatFormat, text: AlertText): string {
  const bounded = {
    title: cut(toLine(text.title), maxTitleLength),
    paragraphs: text.paragraphs.map((paragraph) => cut(toLine(paragraph), maxParagraphLength)),
    link: text.link,
  }
  return JSON.stringify(format === 'slack' ? toSlack(bounded) : toTeams(bounded))
}

/**
 * Slack incoming webhook: `text` is for notifications, `blocks` for the channel
 * (https://docs.slack.dev/messaging/sending-messages-using-incoming-webhooks). Texts are `plain_text`, so that nothing
 * in them becomes markup or a mention.
 */
function toSlack({ title, paragraphs, link }: AlertText) {
  return {
    text: escapeSlack(title),
    blocks: [
      { type: 'header', text: { type: 'plain_text', text: title, emoji: false } },
      ...paragraphs.map((text) => ({ type: 'section', text: { type: 'plain_text', text, emoji: false } })),
      ...(link
        ? [{ type: 'section', text: { type: 'mrkdwn', text: `<${escapeSlack(link.url)}|${escapeSlack(link.label)}>` } }]
        : []),
    ],
  }
}

/** The three characters that control Slack's formatting (https://docs.slack.dev/messaging/formatting-message-text). */
function escapeSlack(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

/**
 * Teams, by the Workflows trigger "When a Teams webhook request is received": a message with one Adaptive Card
 * (https://learn.microsoft.com/microsoftteams/platform/webhooks-and-connectors/how-to/connectors-using). The connectors
 * of Office 365 and their message cards are retired. A `TextRun` is shown unchanged, while a `TextBlock` is
 * parsed as Markdown.
 */
function toTeams({ title, paragraphs, link }: AlertText) {
  const heading = { type: 'TextRun', text: title, size: 'Medium', weight: 'Bolder' }
  return {
    type: 'message',
    attachments: [
      {
        contentType: 'application/vnd.microsoft.card.adaptive',
        contentUrl: null,
        content: {
          $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
          type: 'AdaptiveCard',
          version: '1.2',
          body: [
            { type: 'RichTextBlock', inlines: [heading] },
            ...paragraphs.map((text) => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', text }] })),
          ],
          ...(link && { actions: [{ type: 'Action.OpenUrl', title: link.label, url: link.url }] }),
        },
      },
    ],
  }
}

const knownHosts: readonly { pattern: RegExp; format: ChatFormat }[] = [
  { pattern: /^hooks\.slack(-gov)?\.com$/, format: 'slack' },
  { pattern: /\.(logic\.azure\.com|api\.powerplatform\.com)$/, format: 'teams' },
]

export function guessFormat(host: string): ChatFormat | undefined {
  return knownHosts.find(({ pattern }) => pattern.test(host))?.format
}

/** Incoming webhooks of Office 365 connectors, which Microsoft has retired. */
export function isRetiredConnector(host: string): boolean {
  return /(^|\.)webhook\.office\.com$|^outlook\.office(365)?\.com$/.test(host)
}
