import { t } from '@lingui/core/macro'
import { Trans } from '@lingui/react/macro'
import { Button, Menu, Text } from '@mantine/core'
import { IconBookmark, IconCheck, IconChevronDown, IconPencil, IconPlus } from '@tabler/icons-react'
import { useState } from 'react'
import { useAccount } from '../../../session/session.ts'
import { isFiltered, type MessageFilters } from '../message-filters.ts'
import { ManageViewsModal } from './manage-views-modal.tsx'
import { SaveViewModal } from './save-view-modal.tsx'
import { findApplied, fromViewFilters, useViews } from './use-views.ts'

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
            leftSection={<IconBookmark size={15} />}
            rightSection={<IconChevronDown size={13} />}
            aria-label={applied ? t`Saved views: ${applied.name}` : t`Saved views`}
            styles={{ label: { maxWidth: 200, overflow: 'hidden', textOverflow: 'ellipsis' } }}
          >
            {applied ? applied.name : t`Views`}
          </Button>
        </Menu.Target>
        <Menu.Dropdown mah={420} style={{ overflowY: 'auto' }}>
          {views.length === 0 ? (
            <Menu.Label>
              <Trans>Save filters that you use often. Only you see them.</Trans>
            </Menu.Label>
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
