import { clients } from "./clients.mjs";
import { kit } from "./kit.mjs";

export const hosts = [...clients, kit];
