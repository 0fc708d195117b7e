import { ActionIcon, Button, Code, Group, Modal, Paper, Stack, Text, TextInput, Tooltip } from '@mantine/core'
import { IconTrash } from '@tabler/icons-react'
import ipaddr from 'ipaddr.js'
import { type FormEvent, useEffect, useState } from 'react'
import { readFailure } from '../../api/failure.ts'
import { api } from '../../api/client.ts'
import { useChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { StatusBadge } from '../../ui/badges.tsx'
import { Section } from '../../ui/page.tsx'
import { type ApiAccess, apiAccessKey } from './use-api-access.ts'

/** Saves each change immediately, and asks first if it would lock out the user or allow everyone. */
export function AllowListSection({ allowList, you }: Pick<ApiAccess, 'allowList' | 'you'>) {
  const { accountId, canChange } = useAccount()
  /** A list that waits for confirmation. */
  const [confirming, setConfirming] = useState<string[]>()
  const save = useChange({
    change: (allowList: string[]) => api.publicApi.setAllowList.mutate({ accountId, allowList }),
    invalidates: [apiAccessKey(accountId)],
    done: 'Allow-list saved.',
    onDone: () => setConfirming(undefined),
    onFailure: () => setConfirming(undefined),
  })
  const propose = (next: string[]) => {
    const locksOut = you.allowed && covers(next, you.address) === false
    const opensToAll = next.length === 0 && allowList.length > 0
    if (locksOut || opensToAll) setConfirming(next)
    else save.mutate(next)
  }
  return (
    <Section
      title="IP allow-list"
      description="If the list has entries, the API accepts requests only from these addresses. The dashboard is not restricted."
      actions={allowList.length === 0 && <StatusBadge tone="neutral">All addresses allowed</StatusBadge>}
    >
      <Stack>
        <AllowListEntries
          allowList={allowList}
          you={you}
          pending={save.isPending}
          onRemove={(entry) => propose(allowList.filter((other) => other !== entry))}
        />
        {canChange && (
          <AddAddressForm
            offered={covers(allowList, you.address) && allowList.length > 0 ? undefined : you.address}
            pending={save.isPending}
            error={save.error}
            saved={save.isSuccess ? save.data : undefined}
            onAdd={(entries) => propose([...new Set([...allowList, ...entries])])}
          />
        )}
      </Stack>
      <AllowListWarning
        proposed={confirming}
        address={you.address}
        pending={save.isPending}
        onSave={save.mutate}
        onClose={() => setConfirming(undefined)}
      />
    </Section>
  )
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
              {covers([entry], you.address) && <StatusBadge tone="good">You</StatusBadge>}
            </Group>
            {canChange && (
              <Tooltip label={`Remove ${entry}`}>
                <ActionIcon
                  variant="subtle"
                  color="gray"
                  disabled={pending}
                  aria-label={`Remove ${entry}`}
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
  /** Why the last save failed. */
  error: unknown
  /** A new object after each save. */
  saved: object | undefined
  onAdd: (entries: string[]) => void
}

function AddAddressForm({ offered, pending, error, saved, onAdd }: AddAddressFormProps) {
  const [text, setText] = useState('')
  const [refused, setRefused] = useState<string>()
  useEffect(() => {
    if (saved) setText('')
  }, [saved])
  useEffect(() => setRefused(error ? readRefusal(error) : undefined), [error])
  const submit = (event: FormEvent) => {
    event.preventDefault()
    // People paste several entries at once.
    const entries = text.split(/[\s,;]+/).filter((entry) => entry !== '')
    if (entries.length > 0) onAdd(entries)
    else setRefused('Enter an address or a range.')
  }
  return (
    <form onSubmit={submit} noValidate>
      <Stack gap="sm" align="flex-start">
        <TextInput
          w="100%"
          maw={520}
          label="Address or range"
          placeholder="192.0.2.10 or 192.0.2.0/24"
          autoComplete="off"
          spellCheck={false}
          value={text}
          error={refused}
          onChange={(event) => {
            setText(event.currentTarget.value)
            setRefused(undefined)
          }}
        />
        <Group gap="sm">
          <Button type="submit" variant="default" loading={pending}>
            Add to list
          </Button>
          {offered !== undefined && (
            <Button variant="subtle" disabled={pending} onClick={() => onAdd([offered])}>
              Add my address ({offered})
            </Button>
          )}
        </Group>
      </Stack>
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
  /** The user's address. */
  address: string
  pending: boolean
  onSave: (allowList: string[]) => void
  onClose: () => void
}

/** Confirms a list that would lock out the user or allow everyone. */
function AllowListWarning({ proposed, address, pending, onSave, onClose }: AllowListWarningProps) {
  const opensToAll = proposed?.length === 0
  return (
    <Modal
      opened={proposed !== undefined}
      onClose={onClose}
      centered
      title={opensToAll ? 'Allow all addresses?' : 'Lock out your own address?'}
    >
      <Text size="sm">
        {opensToAll
          ? 'An empty list allows requests with your key from any address.'
          : `The new list does not include your IP address, ${address}. API requests from it will be rejected once the list is saved. The dashboard is not affected.`}
      </Text>
      <Stack gap="sm" mt="lg">
        {!opensToAll && proposed && (
          <Button loading={pending} onClick={() => onSave([...proposed, address])}>
            Save and add my address
          </Button>
        )}
        <Group gap="sm" grow>
          <Button variant="default" onClick={onClose} data-autofocus>
            Cancel
          </Button>
          <Button color="red.9" loading={pending} onClick={() => onSave(proposed ?? [])}>
            {opensToAll ? 'Allow all addresses' : 'Save anyway'}
          </Button>
        </Group>
      </Stack>
    </Modal>
  )
}

/**
 * Whether an allow-list allows an address, by the rules of the server. An empty list allows all. Undefined if
 * an entry is invalid, which the server rejects.
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
