// The picture of a plan. It is shown as an image, so that it cannot run or load anything.
import { picture } from "./api.js";
import { fill, h } from "./dom.js";

export class PlanPicture extends HTMLElement {
  /**
   * @param {string} [path] of the API
   * @param {() => Promise<Blob | null>} [load] loads the picture
   */
  constructor(path = "", load = () => picture(path)) {
    super();
    this.load = load;
    this.image = h("img", { alt: "The plan and its progress" });
    this.shown = -1;
    this.url = "";
    this.missing = false;
    this.hidden = true;
  }

  connectedCallback() {
    fill(this, this.image);
  }

  disconnectedCallback() {
    URL.revokeObjectURL(this.url);
  }

  /**
   * Loads the picture again if the task has changed.
   * @param {number} version
   */
  async refresh(version) {
    if (version === this.shown || this.missing) return;
    this.shown = version;
    const blob = await this.load().catch(() => null);
    if (!blob) {
      this.missing = this.url === "";
      return;
    }
    const old = this.url;
    this.url = URL.createObjectURL(blob);
    this.image.src = this.url;
    await this.image.decode().catch(() => {});
    URL.revokeObjectURL(old);
    this.hidden = false;
  }
}
customElements.define("baton-plan-picture", PlanPicture);
