import { Alert, Button, Code, Group, Stack, Text, TextInput } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useState } from 'react'
import { settings } from '../../api/settings.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { CopyButton } from '../../ui/copy.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Section } from '../../ui/page.tsx'
import { EmptyState } from '../../ui/placeholders.tsx'
import { type ApiAccess, apiAccessKey } from './use-api-access.ts'

interface KeySectionProps {
  /** What the server knows of it: absent when there is none. */
  storedKey: ApiAccess['key']
  /** The key itself, when it was generated on this very page. */
  issuedKey: string | undefined
  onIssued: (key: string | undefined) => void
}

export function KeySection({ storedKey, issuedKey, onIssued }: KeySectionProps) {
  const { canChange } = useAccount()
  const [asking, setAsking] = useState<'regenerate' | 'revoke'>()
  const close = () => setAsking(undefined)
  const { generate, regenerate, revoke } = useKeyChanges({
    onIssued: (key) => {
      onIssued(key)
      close()
    },
  })
  return (
    <Section
      title="API key"
      description="Your applications send this key with every request. Anyone who has it can send messages from this account."
      actions={
        storedKey && (
          <>
            <ChangeButton variant="default" onClick={() => setAsking('regenerate')}>
              Regenerate
            </ChangeButton>
            <ChangeButton variant="light" color="red" onClick={() => setAsking('revoke')}>
              Revoke
            </ChangeButton>
          </>
        )
      }
    >
      <Stack>
        {issuedKey !== undefined && (
          <SecretOnce label="API key" secret={issuedKey} onDone={() => onIssued(undefined)} />
        )}
        {storedKey ? (
          <KeyFacts storedKey={storedKey} />
        ) : (
          <EmptyState
            icon={IconKey}
            title="No API key"
            action={
              <ChangeButton loading={generate.isPending} onClick={() => generate.mutate()}>
                Generate key
              </ChangeButton>
            }
          >
            {canChange
              ? 'Requests are rejected until you generate a key.'
              : 'Requests are rejected until an owner generates a key.'}
          </EmptyState>
        )}
      </Stack>
      <ConfirmModal
        opened={asking === 'regenerate'}
        onClose={close}
        title="Regenerate the API key?"
        consequence="The current key stops working immediately. Requests are rejected until your applications use the new key."
        confirmLabel="Regenerate key"
        pending={regenerate.isPending}
        onConfirm={() => regenerate.mutate()}
      />
      <ConfirmModal
        opened={asking === 'revoke'}
        onClose={close}
        title="Revoke the API key?"
        consequence="The key stops working immediately and permanently. Requests are rejected until you generate a new key."
        confirmLabel="Revoke key"
        pending={revoke.isPending}
        onConfirm={() => revoke.mutate()}
      />
    </Section>
  )
}

function KeyFacts({ storedKey: { start, createdAt, lastUsedAt } }: { storedKey: NonNullable<ApiAccess['key']> }) {
  return (
    <Facts
      facts={[
        { name: 'Starts with', value: <Code fz="sm">{start}…</Code> },
        { name: 'Created', value: <DateTime at={createdAt} /> },
        {
          name: 'Last send (including tests)',
          value: lastUsedAt === undefined ? 'Never' : <DateTime at={lastUsedAt} />,
        },
      ]}
    />
  )
}

interface SecretOnceProps {
  /** What it is, such as `API key`. */
  label: string
  secret: string
  /** Hides it for good. */
  onDone: () => void
}

/** A secret at the one moment when it can be read. */
function SecretOnce({ label, secret, onDone }: SecretOnceProps) {
  return (
    <Alert icon={<IconKey />} title={`Copy your ${label} now`} role="status">
      <Stack gap="sm">
        <Text size="sm">It is shown only once. Store it with your application’s other secrets.</Text>
        <TextInput
          label={label}
          value={secret}
          readOnly
          onFocus={(event) => event.currentTarget.select()}
          styles={{ input: { fontFamily: 'var(--mantine-font-family-monospace)', fontSize: 13 } }}
        />
        <Group gap="sm">
          <CopyButton text={secret} label={`Copy ${label}`} />
          <Button size="xs" variant="subtle" onClick={onDone}>
            I have saved it
          </Button>
        </Group>
      </Stack>
    </Alert>
  )
}

/** `onIssued` hears of the new key, or that there is none any more. */
function useKeyChanges({ onIssued }: { onIssued: (key: string | undefined) => void }) {
  const { accountId } = useAccount()
  const invalidates = [apiAccessKey(accountId)]
  return {
    generate: useChange({
      change: () => settings.publicApi.generateKey.mutate({ accountId }),
      invalidates,
      onDone: ({ apiKey }) => onIssued(apiKey),
    }),
    regenerate: useChange({
      change: () => settings.publicApi.regenerateKey.mutate({ accountId }),
      invalidates,
      onDone: ({ apiKey }) => onIssued(apiKey),
    }),
    revoke: useChange({
      change: () => settings.publicApi.revokeKey.mutate({ accountId }),
      invalidates,
      done: 'API key revoked.',
      onDone: () => onIssued(undefined),
    }),
  }
}
