import type { ItemKind } from '../items.ts'

/** An item that its owner offers to another, who has not answered yet. */
export interface Offer {
  readonly id: string
  readonly kind: ItemKind
  readonly itemId: string
  readonly title: string
  /** Names of the owner, of whom it is offered to, and of the person who did it. */
  readonly from: string
  readonly to: string
  readonly offeredBy: string
  /** Whether earlier versions that were private are deleted for good before it goes over. */
  readonly leavesOutPrivate: boolean
  readonly createdAt: string
  readonly expiresAt: string
}

/** How an item stands for a transfer. */
interface OfferState {
  readonly versions: number
  /** Earlier ones that were private when they were written: the new owner sees them too. */
  readonly privateVersions: number
  readonly offer: Offer | null
}

/**
 * Transfers of items between people and teams. Giving takes the right to transfer over the item's owner, taking the same over the
 * receiver; both are read in the transaction of the change.
 */
export interface OfferStore {
  /** Null where the user may not give the item. */
  findOfferState(userId: string, kind: ItemKind, id: string): Promise<OfferState | null>
  /**
   * Offers an item by id in place of an earlier offer of it. It goes over at once, and null is given, where the giver also maintains the
   * receiver.
   * @throws AppError `not_found`, `forbidden`, `conflict` (the receiver cannot take it, too many offers)
   */
  offerItem(
    userId: string,
    kind: ItemKind,
    id: string,
    wanted: { readonly to: string; readonly leavesOutPrivate: boolean },
  ): Promise<Offer | null>
  /** Offers that the user can answer, and offers that the user can withdraw, newest first: at most 200 of each. */
  listOffers(userId: string): Promise<{ readonly incoming: readonly Offer[]; readonly outgoing: readonly Offer[] }>
  /** @throws AppError `not_found` for an offer that is over or another's, `conflict` when it cannot go over now */
  acceptOffer(userId: string, offerId: string): Promise<Offer>
  /** @throws AppError `not_found` */
  declineOffer(userId: string, offerId: string): Promise<Offer>
  /** @throws AppError `not_found` */
  withdrawOffer(userId: string, offerId: string): Promise<Offer>
}
