import { Code, Stack } from '@mantine/core'
import { IconKey } from '@tabler/icons-react'
import { useState } from 'react'
import { useAccount } from '../../session/account.ts'
import { ChangeButton } from '../../ui/change-button.tsx'
import { ConfirmModal } from '../../ui/confirm-modal.tsx'
import { DateTime } from '../../ui/date-time.tsx'
import { EmptyState } from '../../ui/empty-state.tsx'
import { Facts } from '../../ui/facts.tsx'
import { SecretOnce } from '../../ui/secret-once.tsx'
import { Section } from '../../ui/section.tsx'
import type { ApiAccess } from './use-api-access.ts'
import { useKeyChanges } from './use-key-changes.ts'

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
      description="Your applications send it along with every request. Whoever has it can send messages in your name."
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
            title="There is no key"
            action={
              <ChangeButton loading={generate.isPending} onClick={() => generate.mutate()}>
                Generate key
              </ChangeButton>
            }
          >
            {canChange
              ? 'Every request is refused until you generate one.'
              : 'Every request is refused until an owner generates one.'}
          </EmptyState>
        )}
      </Stack>
      <ConfirmModal
        opened={asking === 'regenerate'}
        onClose={close}
        title="Regenerate the API key?"
        consequence="The present key stops working at once. Your applications are refused until they have the new one."
        confirmLabel="Regenerate key"
        pending={regenerate.isPending}
        onConfirm={() => regenerate.mutate()}
      />
      <ConfirmModal
        opened={asking === 'revoke'}
        onClose={close}
        title="Revoke the API key?"
        consequence="The key stops working at once, and for good. Every request is refused until you generate a new key."
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
        { name: 'Begins with', value: <Code fz="sm">{start}…</Code> },
        { name: 'Created', value: <DateTime at={createdAt} /> },
        {
          name: 'Last send, tests included',
          value: lastUsedAt === undefined ? 'Not yet' : <DateTime at={lastUsedAt} />,
        },
      ]}
    />
  )
}
