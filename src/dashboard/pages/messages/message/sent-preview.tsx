import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Skeleton, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Message, PreviewMedia } from '../../../../../contracts/api/message.ts'
import type { MessageContent } from '../../../../../contracts/dashboard/message.ts'
import { erasedRecipient } from '../../../../../contracts/fields.ts'
import { useAccount } from '../../../session/session.ts'
import { ErrorAlert } from '../../../ui/placeholders.tsx'
import { Bubble, HeaderMedia, HeaderText } from '../../templates/bubble.tsx'
import { MessagePreview } from '../../templates/message-preview.tsx'
import { takesCode } from './template-values.ts'
import { type Content, type FoundTemplate, type MessageHistory, useContent, useTemplateOf } from './use-message.ts'
import { TextLink } from '../../../ui/button.tsx'

/** The message as the recipient sees it, as far as Waybill knows. */
export function SentPreview({ history: { message } }: { history: MessageHistory }) {
  const found = useTemplateOf(message)
  const { data: content, isLoading } = useContent(message)
  if (isLoading || (content?.state !== 'stored' && found.kind === 'loading'))
    return <Skeleton height={140} radius="lg" />
  if (content?.state === 'stored') {
    const { content: stored, templateChanged } = content
    return (
      <Stack gap={6}>
        <SentBubble message={message} shown={stored.shown} />
        {stored.values.components && (
          <Note>
            <Trans>
              The request had its own components. The preview fills in the body only; the curl command has them all.
            </Trans>
          </Note>
        )}
        {templateChanged && <Note>{t`The template was changed later. This is the text that was sent.`}</Note>}
      </Stack>
    )
  }
  if (found.kind === 'failed') return <ErrorAlert error={found.error} onRetry={found.retry} />
  return (
    <Stack gap={6}>
      <TemplateOf message={message} found={found} />
      <WhyNotStored message={message} found={found} content={content} />
    </Stack>
  )
}

export function SentBubble({ message, shown }: { message: Message; shown: MessageContent['shown'] }) {
  const { header, headerMedia, offer, body, footer, buttonDetails, cards } = shown
  return (
    <Bubble
      language={message.language}
      header={
        headerMedia ? <Media media={headerMedia} /> : header === undefined ? undefined : <HeaderText text={header} />
      }
      offer={offer}
      body={body}
      footer={footer}
      buttons={buttonDetails ?? []}
      cards={(cards ?? []).map((card) => ({
        header: card.headerMedia && <Media media={card.headerMedia} />,
        body: card.body,
        buttons: card.buttonDetails ?? [],
      }))}
      at={new Date(message.createdAt)}
      status={message.status}
    />
  )
}

/** The file is not loaded, because its host would learn who views the message and when. */
function Media({ media }: { media: PreviewMedia }) {
  return <HeaderMedia format={media.type.toUpperCase()} label={describe(media)} />
}

function describe({ link, mediaId, filename, name, address, productId }: PreviewMedia): string | undefined {
  const location = [name, address].filter((part) => part !== undefined).join(', ')
  return filename ?? (location === '' ? undefined : location) ?? productId ?? link ?? mediaId
}

function TemplateOf({ message, found }: { message: Message; found: FoundTemplate }) {
  if (found.kind !== 'found')
    return (
      <Text size="sm" c="dimmed">
        <Trans>
          The template {message.template} ({message.language}) is no longer available, so there is no preview.
        </Trans>
      </Text>
    )
  return (
    <MessagePreview
      template={found.template}
      variables={{}}
      headerText=""
      sent={{ at: message.createdAt, status: message.status }}
    />
  )
}

interface WhyNotStoredProps {
  message: Message
  found: FoundTemplate
  /** Undefined if it is unknown: an operator views the account, or the request failed. */
  content: Exclude<Content, { state: 'stored' }> | undefined
}

/** Explains why the preview shows the current template with its placeholders. */
function WhyNotStored({ message, found, content }: WhyNotStoredProps) {
  const { accountId, viewedUntil } = useAccount()
  if (viewedUntil !== undefined) return <Note>{t`Only members of the account see what was sent.`}</Note>
  if (found.kind === 'found' && takesCode(found.template)) return <Note>{t`One-time codes are never stored.`}</Note>
  switch (content?.state) {
    case undefined:
      return null
    case 'off':
      return (
        <Note>
          <Trans>
            This is the current template, because message contents are not stored.{' '}
            <TextLink to={`/${accountId}/public-api#message-contents`} size="xs">
              Message contents
            </TextLink>
          </Trans>
        </Note>
      )
    case 'not_stored':
      if (message.to === erasedRecipient) return <Note>{t`What the message said was erased with its recipient.`}</Note>
      return (
        <Note>
          <Trans>
            This is the current template, because the content of this message is not stored, or no longer stored.
          </Trans>
        </Note>
      )
    case 'unreadable':
      return (
        <Note>
          <Trans>
            This is the current template, because the server has no key that decrypts the stored content. Ask its
            operator to run waybill doctor.
          </Trans>
        </Note>
      )
  }
}

function Note({ children }: { children: ReactNode }) {
  return (
    <Text size="xs" c="dimmed">
      {children}
    </Text>
  )
}
