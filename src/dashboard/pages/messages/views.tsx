import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { ActionIcon, Group, Menu, Stack, Text, TextInput, Tooltip } from '@mantine/core'
import { useForm } from '@mantine/form'
import { IconBookmark, IconCheck, IconChevronDown, IconPencil, IconPlus, IconTrash } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { type View, type ViewFilters, viewLimits } from '../../../../contracts/dashboard/view.ts'
import { api } from '../../api/client.ts'
import { readFailure } from '../../api/failure.ts'
import { useChange, useFormChange } from '../../api/use-change.ts'
import { useAccount } from '../../session/session.ts'
import { isFiltered, type MessageFilters, noFilters } from './message-filters.ts'
import { Button } from '../../ui/button.tsx'
import { Modal } from '../../ui/dialog.tsx'
import { Form, FormActions } from '../../ui/form.tsx'

interface ViewsMenuProps {
  filters: MessageFilters
  onApply: (filters: MessageFilters) => void
}

/** The user's saved views: apply, save, rename and delete. */
export function ViewsMenu({ filters, onApply }: ViewsMenuProps) {
  const views = useViews()
  const { viewedUntil } = useAccount()
  const [modal, setModal] = useState<'save' | 'manage'>()
  // Operators who view the account have no saved views in it.
  if (!views || viewedUntil !== undefined) return null
  const applied = findApplied(views, filters)
  const close = () => setModal(undefined)
  return (
    <>
      <Menu position="bottom-end" width={260}>
        <Menu.Target>
          <Button
            size="compact-sm"
            variant="subtle"
            color="gray"
            c="var(--mantine-color-text)"
            icon={IconBookmark}
            rightSection={<IconChevronDown size={13} />}
            aria-label={applied ? t`Saved views: ${applied.name}` : t`Saved views`}
            styles={{ label: { maxWidth: 200, overflow: 'hidden', textOverflow: 'ellipsis' } }}
          >
            {applied ? applied.name : t`Views`}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={420} style={{ overflowY: 'auto' }}>
          {views.length === 0 ? (
            <Menu.Label>{t`Save filters that you use often. Only you see them.`}</Menu.Label>
          ) : (
            views.map((view) => (
              <Menu.Item
                key={view.name}
                rightSection={view === applied ? <IconCheck size={14} aria-label={t`Applied`} /> : null}
                onClick={() => onApply(fromViewFilters(view.filters))}
              >
                <Text size="sm" truncate>
                  {view.name}
                </Text>
              </Menu.Item>
            ))
          )}
          <Menu.Divider />
          <Menu.Item
            leftSection={<IconPlus size={15} />}
            disabled={!isFiltered(filters)}
            onClick={() => setModal('save')}
          >
            <Trans>Save current filters</Trans>
          </Menu.Item>
          {views.length > 0 && (
            <Menu.Item leftSection={<IconPencil size={15} />} onClick={() => setModal('manage')}>
              <Trans>Rename or delete views</Trans>
            </Menu.Item>
          )}
        </Menu.Dropdown>
      </Menu>
      {modal === 'save' && <SaveViewModal filters={filters} views={views} onClose={close} />}
      {modal === 'manage' && <ManageViewsModal views={views} onClose={close} />}
    </>
  )
}

function ManageViewsModal({ views, onClose }: { views: readonly View[]; onClose: () => void }) {
  return (
    <Modal opened onClose={onClose} title={t`Saved views`} centered>
      <Stack gap="xs" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {views.map((view) => (
          <li key={view.name}>
            <ViewForm view={view} />
          </li>
        ))}
        {views.length === 0 && <Text component="li" size="sm" c="dimmed">{t`You have no saved views.`}</Text>}
      </Stack>
      <Group justify="flex-end" mt="lg">
        <Button variant="default" onClick={onClose}>{t`Close`}</Button>
      </Group>
    </Modal>
  )
}

function ViewForm({ view: { name } }: { view: View }) {
  const { accountId } = useAccount()
  const form = useForm({
    initialValues: { newName: name },
    validate: { newName: (typed) => (typed.trim() === '' ? t`Enter a name.` : null) },
  })
  const newName = form.values.newName.trim()
  const invalidates = [viewsKey(accountId)]
  const rename = useChange({
    change: () => api.view.rename.mutate({ accountId, name, newName }),
    invalidates,
    done: t`View renamed.`,
    onFailure: (error) => {
      const { fields, message } = readFailure(error)
      form.setFieldError('newName', fields['newName'] ?? message)
    },
  })
  const remove = useChange({
    change: () => api.view.delete.mutate({ accountId, name }),
    invalidates,
    done: t`View ${name} deleted.`,
  })
  return (
    <form onSubmit={form.onSubmit(() => (newName === name ? undefined : rename.mutate()))} noValidate>
      <Group gap="xs" wrap="nowrap" align="flex-start">
        <TextInput
          flex={1}
          aria-label={t`Name of ${name}`}
          autoComplete="off"
          maxLength={viewLimits.nameLength}
          {...form.getInputProps('newName')}
        />
        {newName !== name && <Button type="submit" variant="default" loading={rename.isPending}>{t`Rename`}</Button>}
        <Tooltip label={t`Delete`}>
          <ActionIcon
            variant="default"
            size={36}
            aria-label={t`Delete ${name}`}
            loading={remove.isPending}
            onClick={() => remove.mutate()}
          >
            <IconTrash size={16} />
          </ActionIcon>
        </Tooltip>
      </Group>
    </form>
  )
}

interface SaveViewModalProps {
  filters: MessageFilters
  views: readonly View[]
  onClose: () => void
}

function SaveViewModal({ filters, views, onClose }: SaveViewModalProps) {
  const { accountId } = useAccount()
  const form = useForm({
    initialValues: { name: '' },
    validate: { name: (name) => (name.trim() === '' ? t`Enter a name.` : null) },
  })
  const replaces = views.some(({ name }) => name === form.values.name.trim())
  const save = useFormChange(form, {
    change: ({ name }: { name: string }) =>
      api.view.save.mutate({ accountId, name: name.trim(), filters: toViewFilters(filters) }),
    invalidates: [viewsKey(accountId)],
    done: t`View saved.`,
    onDone: onClose,
  })
  return (
    <Modal opened onClose={onClose} title={t`Save view`} centered>
      <Form onSubmit={form.onSubmit(save.submit)} problem={save.problem}>
        <TextInput
          label={t`Name`}
          placeholder={t`Failed today`}
          data-autofocus
          autoComplete="off"
          maxLength={viewLimits.nameLength}
          description={replaces ? t`Replaces your view with this name.` : t`Only you see it, in this account.`}
          {...form.getInputProps('name')}
        />
        <FormActions loading={save.isPending} onCancel={onClose}>{t`Save view`}</FormActions>
      </Form>
    </Modal>
  )
}

function viewsKey(accountId: string) {
  return ['views', accountId]
}

/** The views that the user saved in this account, by name. */
function useViews(): View[] | undefined {
  const { accountId } = useAccount()
  const { data } = useQuery({
    queryKey: viewsKey(accountId),
    queryFn: ({ signal }) => api.view.list.query({ accountId }, { signal }),
    staleTime: 60_000,
  })
  return data?.items.toSorted((a, b) => a.name.localeCompare(b.name, undefined, { numeric: true }))
}

function toViewFilters({ range, from, until, status, outcome, failure, parts, ...texts }: MessageFilters): ViewFilters {
  const given = Object.entries(texts).filter(([, text]) => text !== '')
  return {
    ...Object.fromEntries(given),
    ...(status !== '' && { status }),
    ...(outcome !== '' && { outcome }),
    ...(failure !== '' && { failure }),
    ...(parts !== '' && { parts }),
    ...(range !== 'any' && { range }),
    ...(range === 'custom' && from !== '' && { from }),
    ...(range === 'custom' && until !== '' && { until }),
  }
}

function fromViewFilters(filters: ViewFilters): MessageFilters {
  return { ...noFilters, ...filters }
}

/** The view whose filters equal the current ones. */
function findApplied(views: readonly View[], filters: MessageFilters): View | undefined {
  const current = describe(toViewFilters(filters))
  return views.find((view) => describe(view.filters) === current)
}

function describe(filters: ViewFilters): string {
  return JSON.stringify(Object.entries(filters).toSorted(([a], [b]) => (a < b ? -1 : 1)))
}
