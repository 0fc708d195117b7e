import { plural, t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { ActionIcon, Button, Code, Group, Paper, Stack, Text, TextInput, Tooltip } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import ipaddr from 'ipaddr.js'
import { type FormEvent, useState } from 'react'
import { formatList } from '../../language/format.ts'
import { readFailure } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { notifyFailure, notifyFailureMessage, useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { LabelBadge, StatusBadge } from '../../ui/badges.tsx'
import { Modal } from '../../ui/dialog.tsx'
import { Section } from '../../ui/page.tsx'
import { type ApiAccess, apiAccessKey, useRecentUse } from './use-api-access.ts'

/** What happens to the field that proposed a list. */
interface Outcome {
  onSaved?: () => void
  /** Replaces the error notification. */
  onFailed?: (error: unknown) => void
}

interface Proposal extends Outcome {
  added: string[]
  removed?: string
  /** The user knows that the list becomes empty. */
  mayOpen?: boolean
}

/** The list becomes empty because another owner has changed it, too. */
class ListChangedError extends Error {}

/** Saves each change immediately, and asks first if it would lock out the user or allow everyone. */
export function AllowListSection({ allowList, you }: Pick<ApiAccess, 'allowList' | 'you'>) {
  const { accountId, canChange } = useAccount()
  /** The change to confirm. */
  const [confirming, setConfirming] = useState<Proposal>()
  const save = useChange({
    // Another owner may have changed other entries since the list was read. The server rejects a change in between.
    change: async (proposal: Proposal) => {
      const { allowList } = await api.publicApi.get.query({ accountId })
      const next = change(allowList, proposal)
      if (next.length === 0 && proposal.mayOpen !== true) throw new ListChangedError()
      return api.publicApi.setAllowList.mutate({ accountId, allowList: next, replaces: allowList })
    },
    invalidates: [apiAccessKey(accountId)],
    done: t`Allow-list saved.`,
    onDone: (_saved, { onSaved }) => {
      setConfirming(undefined)
      onSaved?.()
    },
    onFailure: (error, { onFailed = notifyFailure }) => {
      setConfirming(undefined)
      if (error instanceof ListChangedError)
        notifyFailureMessage(t`Another owner has changed the list. Reload the page before you allow all addresses.`)
      else onFailed(error)
    },
  })
  const callers = useRecentUse()?.addresses ?? []
  const findLockedOut = (next: string[]) => listLockedOut(next, { allowList, callers, you })
  const propose = (proposal: Proposal) => {
    const next = change(allowList, proposal)
    const opensToAll = next.length === 0 && allowList.length > 0
    if (findLockedOut(next).length > 0 || opensToAll) setConfirming(proposal)
    else save.mutate(proposal)
  }
  const proposed = confirming && change(allowList, confirming)
  return (
    <Section
      id="allow-list"
      title={t`IP allow-list`}
      description={t`If the list has entries, the API accepts requests only from these addresses. The dashboard is not restricted.`}
      actions={
        allowList.length === 0 ? (
          <StatusBadge tone="neutral">{t`All addresses allowed`}</StatusBadge>
        ) : (
          <StatusBadge tone="good">
            {plural(allowList.length, { one: 'Restricted to # entry', other: 'Restricted to # entries' })}
          </StatusBadge>
        )
      }
    >
      <Stack>
        <AllowListEntries
          allowList={allowList}
          you={you}
          pending={save.isPending}
          onRemove={(removed) => propose({ added: [], removed })}
        />
        {canChange && (
          <AddAddressForm
            offered={covers(allowList, you.address) && allowList.length > 0 ? undefined : you.address}
            pending={save.isPending}
            onAdd={(added, outcome) => propose({ added, ...outcome })}
          />
        )}
      </Stack>
      <AllowListWarning
        proposed={proposed}
        lockedOut={proposed ? findLockedOut(proposed) : []}
        address={you.address}
        pending={save.isPending}
        onSave={(alsoAdded) =>
          confirming &&
          save.mutate({
            ...confirming,
            added: [...confirming.added, ...alsoAdded],
            mayOpen: proposed?.length === 0,
          })
        }
        onClose={() => setConfirming(undefined)}
      />
    </Section>
  )
}

function change(allowList: string[], { added, removed }: Proposal): string[] {
  return [...new Set([...allowList.filter((entry) => entry !== removed), ...added])]
}

interface AllowListEntriesProps extends Pick<ApiAccess, 'allowList' | 'you'> {
  pending: boolean
  onRemove: (entry: string) => void
}

function AllowListEntries({ allowList, you, pending, onRemove }: AllowListEntriesProps) {
  const { canChange } = useAccount()
  if (allowList.length === 0) return null
  return (
    <Stack component="ul" gap="xs" p={0} m={0} style={{ listStyle: 'none' }}>
      {allowList.map((entry) => (
        <Paper key={entry} component="li" withBorder px="sm" py={6} bg="var(--waybill-page)">
          <Group justify="space-between" wrap="nowrap" mih={28}>
            <Group gap="sm">
              <Code fz="sm" bg="transparent" p={0}>
                {entry}
              </Code>
              {covers([entry], you.address) && <LabelBadge>{t`You`}</LabelBadge>}
            </Group>
            {canChange && (
              <Tooltip label={t`Remove ${entry}`}>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  disabled={pending}
                  aria-label={t`Remove ${entry}`}
                  onClick={() => onRemove(entry)}
                >
                  <IconTrash size={16} />
                </ActionIcon>
              </Tooltip>
            )}
          </Group>
        </Paper>
      ))}
    </Stack>
  )
}

interface AddAddressFormProps {
  /** The user's address; absent if the list covers it. */
  offered: string | undefined
  pending: boolean
  onAdd: (entries: string[], outcome: Outcome) => void
}

function AddAddressForm({ offered, pending, onAdd }: AddAddressFormProps) {
  const [text, setText] = useState('')
  const [refused, setRefused] = useState<string>()
  const onFailed = (error: unknown) => setRefused(readRefusal(error))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // Users paste several entries at once.
    const entries = text.split(/[\s,;]+/).filter((entry) => entry !== '')
    if (entries.length > 0) onAdd(entries, { onSaved: () => setText(''), onFailed })
    else setRefused(t`Enter an address or a range.`)
  }
  return (
    <form onSubmit={submit} noValidate>
      <Group gap="sm" align="flex-start">
        <TextInput
          flex="1 1 240px"
          maw={360}
          label={t`Address or range`}
          placeholder="192.0.2.0/24"
          autoComplete="off"
          spellCheck={false}
          value={text}
          error={refused}
          onChange={(event) => {
            setText(event.currentTarget.value)
            setRefused(undefined)
          }}
        />
        {/* Beside the input, not beside its label. */}
        <Group gap="sm" mt={{ base: 0, sm: 25 }}>
          <Button type="submit" variant="default" loading={pending}>{t`Add to list`}</Button>
          {offered !== undefined && (
            <Button variant="subtle" disabled={pending} onClick={() => onAdd([offered], { onFailed })}>
              <Trans>Add my address ({offered})</Trans>
            </Button>
          )}
        </Group>
      </Group>
    </form>
  )
}

/** All entries share one input field, so the first problem is shown there. */
function readRefusal(error: unknown): string {
  const { message, fields } = readFailure(error)
  return Object.values(fields)[0] ?? message
}

interface AllowListWarningProps {
  /** The list to confirm; undefined if there is none. */
  proposed: string[] | undefined
  /** The addresses that the list would reject: recent API callers and the user's. */
  lockedOut: string[]
  /** The user's address. */
  address: string
  pending: boolean
  /** Saves the list with these further entries. */
  onSave: (alsoAdded: string[]) => void
  onClose: () => void
}

/** Confirms a list that would lock out the user or allow everyone. */
function AllowListWarning({ proposed, lockedOut, address, pending, onSave, onClose }: AllowListWarningProps) {
  const opensToAll = proposed?.length === 0
  const isOwnOnly = lockedOut.every((one) => one === address)
  return (
    <Modal
      opened={proposed !== undefined}
      onClose={onClose}
      centered
      title={
        opensToAll
          ? t`Allow all addresses?`
          : isOwnOnly
            ? t`Leave out your own address?`
            : t`Leave out addresses that call the API?`
      }
    >
      <Text size="sm">
        {opensToAll
          ? t`An empty list allows requests with your key from any address.`
          : isOwnOnly
            ? t`The new list does not include your IP address, ${address}. API requests from it will be rejected, so leave it out only if your applications call from other addresses. The dashboard is not affected.`
            : t`The new list does not include addresses that called the API in the last 24 hours, or yours: ${formatList(lockedOut)}. API requests from them will be rejected.`}
      </Text>
      <Stack gap="sm" mt="lg">
        {!opensToAll && proposed && (
          <Button loading={pending} onClick={() => onSave(lockedOut)} data-autofocus>
            {isOwnOnly
              ? t`Save and add my address`
              : plural(lockedOut.length, { one: 'Save and add # address', other: 'Save and add # addresses' })}
          </Button>
        )}
        <Group gap="sm" grow>
          <Button variant="default" onClick={onClose} {...(opensToAll && { 'data-autofocus': true })}>
            <Trans>Cancel</Trans>
          </Button>
          <Button
            {...(opensToAll ? { color: 'red.9' } : { variant: 'default' })}
            loading={pending}
            onClick={() => onSave([])}
          >
            {opensToAll
              ? t`Allow all addresses`
              : plural(lockedOut.length, { one: 'Save without it', other: 'Save without them' })}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/** The addresses that a new list would reject, but the current one does not. */
function listLockedOut(
  next: string[],
  { allowList, callers, you }: { callers: string[] } & Pick<ApiAccess, 'allowList' | 'you'>,
): string[] {
  const allowed = callers.filter((address) => covers(allowList, address))
  const callersAndYou = [...new Set([...allowed, ...(you.allowed ? [you.address] : [])])]
  return callersAndYou.filter((address) => covers(next, address) === false)
}

/**
 * Whether an allow-list allows an address, by the same rules as the server. An empty list allows all. Undefined if an entry
 * is invalid; the server reports the error.
 */
function covers(allowList: string[], address: string): boolean | undefined {
  if (allowList.length === 0) return true
  const ranges = allowList.map(readRange)
  if (!ranges.every((range) => range !== undefined)) return undefined
  if (!ipaddr.isValid(address)) return false
  const caller = ipaddr.process(address)
  return ranges.some(([network, prefix]) => network.kind() === caller.kind() && caller.match([network, prefix]))
}

type Range = [ipaddr.IPv4 | ipaddr.IPv6, number]

function readRange(entry: string): Range | undefined {
  if (ipaddr.isValidCIDR(entry)) return unmapped(ipaddr.parseCIDR(entry))
  if (!ipaddr.isValid(entry)) return undefined
  const address = ipaddr.process(entry)
  return [address, address.kind() === 'ipv4' ? 32 : 128]
}

/** `::ffff:192.0.2.0/120` is `192.0.2.0/24` (RFC 4291, 2.5.5.2). */
function unmapped([network, prefix]: Range): Range {
  if (network instanceof ipaddr.IPv6 && network.isIPv4MappedAddress() && prefix >= 96)
    return [network.toIPv4Address(), prefix - 96]
  return [network, prefix]
}
