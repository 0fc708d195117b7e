import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Alert, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { IconExternalLink, IconKey } from '@tabler/icons-react'
import { useState } from 'react'
import { api } from '../../api/client.ts'
import { notifyFailureMessage, useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { Button, ChangeButton } from '../../ui/button.tsx'
import { ConfirmModal } from '../../ui/dialog.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { DescriptionList } from '../../ui/lists.tsx'
import { Section } from '../../ui/page.tsx'
import { EmptyState } from '../../ui/placeholders.tsx'
import { type ApiAccess, apiAccessKey } from './use-api-access.ts'

type StoredKey = NonNullable<ApiAccess['key']>

interface KeySectionProps {
  /** Absent if there is no key. */
  storedKey: StoredKey | undefined
  /** The full key, if it was generated on this page. */
  issuedKey: string | undefined
  onIssued: (key: string | undefined) => void
}

export function KeySection({ storedKey, issuedKey, onIssued }: KeySectionProps) {
  const { canChange } = useAccount()
  const [confirming, setConfirming] = useState<'replace' | 'revoke'>()
  const close = () => setConfirming(undefined)
  const { generate, replace, revoke } = useKeyChanges({
    onIssued: (key) => {
      onIssued(key)
      close()
    },
  })
  return (
    <Section
      id="api-key"
      title={t`API key`}
      description={t`Your applications send this key with every request. Anyone who has it can send messages from this account.`}
      actions={
        storedKey && (
          <>
            <ChangeButton variant="default" onClick={() => setConfirming('replace')}>{t`Replace`}</ChangeButton>
            <ChangeButton variant="light" color="red" onClick={() => setConfirming('revoke')}>{t`Revoke`}</ChangeButton>
          </>
        )
      }
    >
      <Stack>
        {issuedKey !== undefined && (
          <NewSecret label={t`API key`} secret={issuedKey} onDone={() => onIssued(undefined)} />
        )}
        {storedKey ? (
          <KeyDetails storedKey={storedKey} />
        ) : (
          <EmptyState
            icon={IconKey}
            title={t`No API key`}
            action={<ChangeButton change={generate}>{t`Generate key`}</ChangeButton>}
          >
            {canChange
              ? t`Requests are rejected until you generate a key.`
              : t`Requests are rejected until an owner generates a key.`}
          </EmptyState>
        )}
      </Stack>
      <ConfirmModal
        opened={confirming === 'replace'}
        onClose={close}
        title={t`Replace the API key?`}
        consequence={
          <>
            <Trans>
              The current key stops working immediately. Requests are rejected until your applications use the new key.
            </Trans>{' '}
            {storedKey?.lastUsedAt !== undefined && (
              <Trans>
                Last send (tests included): <DateTime at={storedKey.lastUsedAt} />.
              </Trans>
            )}
          </>
        }
        confirmLabel={t`Replace key`}
        change={replace}
      />
      <ConfirmModal
        opened={confirming === 'revoke'}
        onClose={close}
        title={t`Revoke the API key?`}
        consequence={t`The key stops working immediately and permanently. Requests are rejected until you generate a new key.`}
        confirmLabel={t`Revoke key`}
        change={revoke}
      />
    </Section>
  )
}

function KeyDetails({ storedKey }: { storedKey: StoredKey }) {
  return (
    <DescriptionList
      items={[
        { name: t`Starts with`, value: <Code fz="sm">{storedKey.start}…</Code> },
        { name: t`Created`, value: <DateTime at={storedKey.createdAt} /> },
        { name: t`Last send`, value: <LastSend storedKey={storedKey} /> },
      ]}
    />
  )
}

/** Sends are recorded by the minute, so it can be unknown whether one came before or after the key was created. */
function LastSend({ storedKey: { createdAt, lastUsedAt, earlierUseAt } }: { storedKey: StoredKey }) {
  if (lastUsedAt !== undefined)
    return (
      <>
        <DateTime at={lastUsedAt} /> <Text span inherit c="dimmed">{t`(tests included)`}</Text>
      </>
    )
  if (earlierUseAt === undefined) return t`None yet`
  if (Date.parse(createdAt) - Date.parse(earlierUseAt) < 60_000)
    return (
      <>
        <DateTime at={earlierUseAt} /> <Text span inherit c="dimmed">{t`(possibly before this key was created)`}</Text>
      </>
    )
  return (
    <Trans>
      None since this key was created. The last one before: <DateTime at={earlierUseAt} />.
    </Trans>
  )
}

interface NewSecretProps {
  /** The name of the secret, such as `API key`. */
  label: string
  secret: string
  /** Hides the secret permanently. */
  onDone: () => void
}

/** Shows a new secret, once. */
function NewSecret({ label, secret, onDone }: NewSecretProps) {
  return (
    <Alert icon={<IconKey />} title={t`Copy your ${label} now`} role="status">
      <Stack gap="sm">
        <Text size="sm">{t`It is shown only once. Store it with your application’s other secrets.`}</Text>
        <TextInput
          label={label}
          value={secret}
          readOnly
          onFocus={(event) => event.currentTarget.select()}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
        />
        <Group gap="sm">
          <CopyButton text={secret} label={t`Copy ${label}`} />
          <Button size="xs" variant="default" icon={IconExternalLink} onClick={() => openReference(secret)}>
            <Trans>Try it in the docs</Trans>
          </Button>
          <Button size="xs" variant="subtle" onClick={onDone}>{t`I have saved it`}</Button>
        </Group>
      </Stack>
    </Alert>
  )
}

const referencePage = '/docs/api#tag/messages/POST/api/v1/message/send'

/**
 * Opens the API reference in a new tab, which reads the key from its session storage (`docs/browser/setup.js`). The key is
 * only written to the storage of that tab, never to a URL.
 */
function openReference(apiKey: string): void {
  const tab = window.open('', '_blank')
  if (!tab)
    return notifyFailureMessage(t`Your browser blocked the new tab. Allow it, or open the documentation yourself.`)
  tab.sessionStorage.setItem('waybill-docs-api-key', apiKey)
  tab.opener = null
  tab.location.href = new URL(referencePage, window.location.origin).href
}

/** `onIssued` gets the new key, or undefined after revocation. */
function useKeyChanges({ onIssued }: { onIssued: (key: string | undefined) => void }) {
  const { accountId } = useAccount()
  const invalidates = [apiAccessKey(accountId)]
  return {
    generate: useChange({
      change: () => api.publicApi.generateKey.mutate({ accountId }),
      invalidates,
      onDone: ({ apiKey }) => onIssued(apiKey),
    }),
    replace: useChange({
      change: () => api.publicApi.regenerateKey.mutate({ accountId }),
      invalidates,
      onDone: ({ apiKey }) => onIssued(apiKey),
    }),
    revoke: useChange({
      change: () => api.publicApi.revokeKey.mutate({ accountId }),
      invalidates,
      done: t`API key revoked.`,
      onDone: () => onIssued(undefined),
    }),
  }
}
