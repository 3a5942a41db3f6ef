// Repeated requests while the view moves.

/** Asks one question at a time: of those that come meanwhile only the last. */
export class Latest<Question> {
  private next: Question | undefined;
  private isAsking = false;

  /** `ask` is done when the answer has been dealt with. */
  constructor(private readonly answer: (question: Question) => Promise<void>) {}

  /** Done when there is nothing more to ask; at once, where another question is under way. */
  async ask(question: Question): Promise<void> {
    this.next = question;
    if (this.isAsking) return;
    this.isAsking = true;
    for (let next; (next = this.next) !== undefined; ) {
      this.next = undefined;
      // If it fails, the next move asks again.
      await this.answer(next).catch(() => undefined);
    }
    this.isAsking = false;
  }
}
